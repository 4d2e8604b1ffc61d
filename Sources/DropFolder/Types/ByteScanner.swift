import ChuteSystem
import Glibc

/// Reads a file from one place on, in pieces of 256 KiB.
struct ByteScanner {
    private let file: BoundedFile
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0
    /// Where the next byte stands.
    private(set) var position: UInt64

    private static let windowLength = 256 << 10

    init(_ file: BoundedFile, at position: UInt64) {
        self.file = file
        self.position = position
    }

    /// The next byte; `nil` at the end of the file or of the reads allowed.
    mutating func next() throws(SystemError) -> UInt8? {
        guard let index = try offset() else { return nil }
        position += 1
        return window[index]
    }

    /// The number of `width` bytes that comes next.
    mutating func number(_ width: Int) throws(SystemError) -> UInt64? {
        var value: UInt64 = 0
        for _ in 0..<width {
            guard let byte = try next() else { return nil }
            value = value << 8 | UInt64(byte)
        }
        return value
    }

    /// Goes `count` bytes on. Past the end, the next read finds nothing.
    mutating func skip(_ count: UInt64) {
        let (sum, overflow) = position.addingReportingOverflow(count)
        position = overflow ? .max : sum
    }

    /// Goes to just behind the next `byte`; false where none comes.
    mutating func skip(past byte: UInt8) throws(SystemError) -> Bool {
        while let start = try offset() {
            let found = window.withUnsafeBytes { buffer -> Int? in
                guard let base = buffer.baseAddress,
                    let place = memchr(base + start, Int32(byte), buffer.count - start)
                else { return nil }
                return base.distance(to: UnsafeRawPointer(place))
            }
            if let found {
                position = windowStart + UInt64(found) + 1
                return true
            }
            position = windowStart + UInt64(window.count)
        }
        return false
    }

    /// Where in the window the next byte stands, after a read if it is not there.
    private mutating func offset() throws(SystemError) -> Int? {
        if position < windowStart || position - windowStart >= UInt64(window.count) {
            window = try file.read(at: position, count: Self.windowLength).bytes
            windowStart = position
        }
        return window.isEmpty ? nil : Int(position - windowStart)
    }
}
