import ChuteSystem

/// The names in a ZIP file, read from its directory at the end, or from the local headers where
/// the end is not there.
struct ZIPDirectory {
    struct Entry {
        let name: [UInt8]
        /// Bytes in the file; small for those that are looked into.
        let packedSize: UInt64
        let isStored: Bool
        /// Where the local header stands.
        let start: UInt64

        func isNamed(_ text: String) -> Bool { name.elementsEqual(text.utf8) }
        func begins(with text: String) -> Bool { name.starts(with: text.utf8) }
        func ends(with text: String) -> Bool {
            name.count >= text.utf8.count && name.suffix(text.utf8.count).elementsEqual(text.utf8)
        }
    }

    let entries: [Entry]

    private static let mostEntries = 4096
    private static let mostBytes = 1 << 20

    init(of file: BoundedFile) throws(SystemError) {
        let central = try Self.central(file)
        entries = central.isEmpty ? Self.local(file.head) : central
    }

    /// Where the end record stands, if it stands in the last 64 KiB: comments are no longer.
    static func endRecord(
        of file: BoundedFile
    ) throws(SystemError) -> (place: UInt64, bytes: Excerpt)? {
        let longest = 22 + 65_535
        var window = 1024
        while true {
            let tail = try file.tail(count: window)
            if let found = tail.lastIndex(of: "PK\u{5}\u{6}"), tail.count - found >= 22 {
                let place = file.size - UInt64(tail.count) + UInt64(found)
                return (place, Excerpt(Array(tail.bytes[found...])))
            }
            if window >= longest || tail.count < window { return nil }
            window = longest
        }
    }

    private static func central(_ file: BoundedFile) throws(SystemError) -> [Entry] {
        guard let end = try endRecord(of: file), let size = end.bytes.number(4, at: 12, .little),
            size <= end.place
        else { return [] }
        // Counted back from the end record, which also finds archives with something in front.
        let table = try file.read(
            at: end.place - size, count: Int(clamping: min(size, UInt64(mostBytes))))
        let shift = (end.place - size).subtractingReportingOverflow(
            end.bytes.number(4, at: 16, .little) ?? 0)
        var entries: [Entry] = []
        var position = 0
        while entries.count < mostEntries, table.has("PK\u{1}\u{2}", at: position),
            let method = table.number(2, at: position + 10, .little),
            let packed = table.number(4, at: position + 20, .little),
            let nameLength = table.number(2, at: position + 28, .little),
            let extraLength = table.number(2, at: position + 30, .little),
            let commentLength = table.number(2, at: position + 32, .little),
            let start = table.number(4, at: position + 42, .little)
        {
            let name = Array(table.slice(at: position + 46, count: Int(nameLength)))
            entries.append(
                Entry(
                    name: name, packedSize: packed, isStored: method == 0,
                    start: shift.overflow ? start : start &+ shift.partialValue))
            position += 46 + Int(nameLength) + Int(extraLength) + Int(commentLength)
        }
        return entries
    }

    private static func local(_ head: Excerpt) -> [Entry] {
        var entries: [Entry] = []
        var position = 0
        while entries.count < 256,
            let start = head.firstIndex(of: "PK\u{3}\u{4}", from: position),
            let method = head.number(2, at: start + 8, .little),
            let packed = head.number(4, at: start + 18, .little),
            let nameLength = head.number(2, at: start + 26, .little)
        {
            let name = Array(head.slice(at: start + 30, count: Int(nameLength)))
            entries.append(
                Entry(
                    name: name, packedSize: packed, isStored: method == 0, start: UInt64(start)))
            position = start + 30 + name.count
        }
        return entries
    }

    /// The bytes of a stored entry, at most `limit`.
    func stored(_ entry: Entry, in file: BoundedFile, limit: Int) throws(SystemError) -> [UInt8] {
        guard entry.isStored else { return [] }
        let header = try file.read(at: entry.start, count: 30)
        guard header.has("PK\u{3}\u{4}"), let name = header.number(2, at: 26, .little),
            let extra = header.number(2, at: 28, .little)
        else { return [] }
        let count = Int(clamping: min(entry.packedSize, UInt64(limit)))
        let (start, overflow) = entry.start.addingReportingOverflow(30 + name + extra)
        return overflow ? [] : try file.read(at: start, count: count).bytes
    }
}
