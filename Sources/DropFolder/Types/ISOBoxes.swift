import ChuteSystem

/// One box of an ISO base media file: its kind, and where its body lies.
struct ISOBox: Sendable {
    /// The four-character code, such as `moov`.
    let kind: String
    let start: UInt64
    let body: UInt64
    /// The first byte after it, by its own word: may lie past the end of the file.
    let end: UInt64
    /// Its size is written as "to the end".
    let isOpenEnded: Bool
}

/// Walks the boxes that follow each other in one range of a file.
///
/// Sizes of 32 and 64 bits and "to the end"; no more than `limit` boxes, no recursion.
struct ISOBoxes {
    private(set) var position: UInt64
    let end: UInt64
    private var left: Int

    init(from start: UInt64, to end: UInt64, limit: Int = 256) {
        position = start
        self.end = end
        left = limit
    }

    /// Whether the walk stopped because of the limit of boxes.
    var isOutOfPatience: Bool { left == 0 }

    /// The next box; `nil` at the end, and where no box header can stand.
    mutating func next(in file: BoundedFile) throws(SystemError) -> ISOBox? {
        guard left > 0, position < end else { return nil }
        left -= 1
        let header = try file.read(at: position, count: 16)
        guard let short = header.number(4, at: 0), let kind = header.code(at: 4),
            Self.isKind(header.slice(at: 4, count: 4))
        else { return nil }
        var length = UInt64(8)
        var size = short
        if short == 1 {
            guard let long = header.number(8, at: 8) else { return nil }
            size = long
            length = 16
        } else if short == 0 {
            size = end - position
        }
        guard size >= length else { return nil }
        let (sum, overflow) = position.addingReportingOverflow(size)
        let boxEnd = overflow ? .max : sum
        defer { position = boxEnd }
        return ISOBox(
            kind: kind, start: position, body: position + length, end: boxEnd,
            isOpenEnded: short == 0)
    }

    /// The first box of that kind among those not passed yet.
    mutating func first(_ kind: String, in file: BoundedFile) throws(SystemError) -> ISOBox? {
        while let box = try next(in: file) {
            if box.kind == kind { return box }
        }
        return nil
    }

    private static func isKind(_ code: ArraySlice<UInt8>) -> Bool {
        // 0xA9 begins Apple's own codes, such as ©xyz.
        code.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0xA9 }
    }
}
