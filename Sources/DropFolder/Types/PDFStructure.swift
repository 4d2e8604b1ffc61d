import ChuteSystem

/// PDF ends with `%%EOF`, behind which some writers leave a little more; one that is made for
/// the web says its length at the start.
enum PDFStructure {
    static func probe(_ file: BoundedFile) throws(SystemError) -> FileStructure {
        if let length = linearLength(file.head), length > file.size { return .cut }
        return try file.tail(count: 4096).lastIndex(of: "%%EOF") == nil ? .cut : .complete
    }

    private static func linearLength(_ head: Excerpt) -> UInt64? {
        guard let mark = head.firstIndex(of: "/Linearized", limit: 2048),
            var index = head.firstIndex(of: "/L ", from: mark, limit: mark + 512)
        else { return nil }
        index += 3
        var length: UInt64 = 0
        var digits = 0
        while digits < 15, let byte = head.byte(at: index), (0x30...0x39).contains(byte) {
            length = length * 10 + UInt64(byte - 0x30)
            digits += 1
            index += 1
        }
        return digits > 0 ? length : nil
    }
}
