import ChuteSystem

/// ISO base media (MP4, QuickTime, HEIF, AVIF, JPEG 2000, JPEG XL) is a row of boxes that must
/// end where the file ends.
enum ISOStructure {
    /// Whether a file that begins so is one of the family.
    static func isMedia(_ head: Excerpt) -> Bool {
        switch head.code(at: 4) {
        case "ftyp": true
        // These are words too: where the size is letters as well, it is a text.
        case "moov", "mdat", "wide", "free", "skip", "pnot", "udta", "uuid":
            !TextType.isText(head, count: 4)
        case "jP  ", "JXL ": head.has([0, 0, 0, 12])
        default: false
        }
    }

    /// Looks at the boxes from `start` to the end of the file.
    static func probe(_ file: BoundedFile, from start: UInt64) throws(SystemError) -> FileStructure
    {
        var boxes = ISOBoxes(from: start, to: file.size, limit: 50_000)
        var isDescribed = false
        var hasContent = false
        var contentEnd = start
        while let box = try boxes.next(in: file) {
            guard box.end <= file.size else { return .cut }
            switch box.kind {
            case "moov", "moof", "jp2h": isDescribed = true
            case "meta":
                isDescribed = true
                // After version and flags; small pictures keep their bytes in here.
                var parts = ISOBoxes(from: box.body + 4, to: box.end)
                if try parts.first("idat", in: file) != nil { hasContent = true }
            case "mdat": hasContent = true
            case "mini", "jxlc", "jxlp", "jp2c":
                isDescribed = true
                hasContent = true
            default: break
            }
            if box.isOpenEnded, box.kind != "free" {
                return try openEnd(file, box, isDescribed: isDescribed)
            }
            if !["free", "skip", "wide"].contains(box.kind) { contentEnd = box.end }
        }
        if boxes.isOutOfPatience { return .unknown }
        guard boxes.position == file.size else {
            let rest = try file.read(at: boxes.position, count: 4096)
            return rest.isZero(in: 0..<rest.count) || rest.count < 8 ? .cut : .unknown
        }
        guard isDescribed else { return .cut }
        if try RIFFStructure.hasZeroTail(file, before: contentEnd) { return .cut }
        return hasContent ? .complete : .unknown
    }

    /// The last box reaches "to the end", wherever that is: only a codestream tells.
    private static func openEnd(
        _ file: BoundedFile, _ box: ISOBox, isDescribed: Bool
    ) throws(SystemError) -> FileStructure {
        guard isDescribed else { return .cut }
        if box.kind == "jp2c" {
            return try file.tail(count: 2).has([0xFF, 0xD9]) ? .complete : .cut
        }
        return try RIFFStructure.hasZeroTail(file, before: file.size) ? .cut : .unknown
    }
}
