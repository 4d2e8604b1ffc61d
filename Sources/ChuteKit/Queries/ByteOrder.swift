import Glibc

/// Comparing bytes, the first one first.
enum ByteOrder {
    /// Below 0 where `left` comes before `right`, 0 where they are equal, above 0 after it.
    static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left.withUnsafeBytes { left in right.withUnsafeBytes { compare(left, $0) } }
    }

    /// As above.
    static func compare(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> Int {
        if let start = left.baseAddress, let other = right.baseAddress {
            let order = memcmp(start, other, min(left.count, right.count))
            if order != 0 { return order < 0 ? -1 : 1 }
        }
        return left.count < right.count ? -1 : left.count == right.count ? 0 : 1
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first index from which on `isAfter` holds, where it holds of all elements from there
    /// on and of none before.
    func partitioningIndex(where isAfter: (Element) throws -> Bool) rethrows -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if try isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
