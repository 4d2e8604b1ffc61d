import ChuteSystem

/// Names camera RAW files that are TIFF inside, by header, tags, and maker with extension.
enum TIFFType {
    private struct Tags {
        var maker = ""
        var hasDNGVersion = false
        var hasSubdirectories = false
        var hasSonyPrivate = false
        var isReduced = false
    }

    static func type(of file: BoundedFile, name: FileExtension) throws(SystemError) -> MIMEType? {
        let head = file.head
        let order: Excerpt.ByteOrder
        switch head.number(2, at: 0) {
        case 0x4949: order = .little
        case 0x4D4D: order = .big
        default: return nil
        }
        switch head.number(2, at: 2, order) {
        case 0x55 where order == .little: return "image/x-panasonic-rw2"
        case 0x4F52, 0x5352: return "image/x-olympus-orf"
        case 42, 43: break
        default: return nil
        }
        if order == .little, head.has("CR", at: 8) { return "image/x-canon-cr2" }
        if head.has("IIII", at: 8) || head.has("MMMM", at: 8) { return "image/x-phaseone-iiq" }
        let tags = try firstDirectory(of: file, order)
        if tags.hasDNGVersion { return "image/x-adobe-dng" }
        if let byName = byExtension[name.text],
            tags.maker.isEmpty || byName.makers.contains(where: tags.maker.hasPrefix)
        {
            return byName.type
        }
        if tags.isReduced, tags.hasSubdirectories {
            if tags.maker.hasPrefix("nikon") { return "image/x-nikon-nef" }
            if tags.maker.hasPrefix("sony"), tags.hasSonyPrivate { return "image/x-sony-arw" }
        }
        return "image/tiff"
    }

    /// What RAW files are called whose tags alone do not tell them from TIFF. The maker's name,
    /// where the file has one, must agree.
    private static let byExtension: [String: (type: MIMEType, makers: [String])] = [
        "nef": ("image/x-nikon-nef", ["nikon"]),
        "nrw": ("image/x-nikon-nrw", ["nikon"]),
        "arw": ("image/x-sony-arw", ["sony"]),
        "sr2": ("image/x-sony-sr2", ["sony"]),
        "srf": ("image/x-sony-srf", ["sony"]),
        "pef": ("image/x-pentax-pef", ["pentax", "ricoh", "asahi"]),
        "srw": ("image/x-samsung-srw", ["samsung"]),
        "3fr": ("image/x-hasselblad-3fr", ["hasselblad"]),
        "fff": ("image/x-hasselblad-fff", ["hasselblad", "imacon"]),
        "erf": ("image/x-epson-erf", ["seiko epson", "epson"]),
        "kdc": ("image/x-kodak-kdc", ["kodak", "eastman kodak"]),
        "dcr": ("image/x-kodak-dcr", ["kodak", "eastman kodak"]),
        "mef": ("image/x-mamiya-mef", ["mamiya"]),
        "mos": ("image/x-leaf-mos", ["leaf"]),
        "rwl": ("image/x-leica-rwl", ["leica"]),
        "iiq": ("image/x-phaseone-iiq", ["phase one", "leaf"]),
    ]

    private static func firstDirectory(
        of file: BoundedFile, _ order: Excerpt.ByteOrder
    ) throws(SystemError) -> Tags {
        let isBig = file.head.number(2, at: 2, order) == 43
        let width = isBig ? 8 : 4
        let entrySize = isBig ? 20 : 12
        let countWidth = isBig ? 8 : 2
        var tags = Tags()
        guard let start = file.head.number(width, at: isBig ? 8 : 4, order),
            let count = try file.read(at: start, count: countWidth).number(
                countWidth, at: 0, order)
        else { return tags }
        let entries = Int(clamping: min(count, 512))
        let (first, overflow) = start.addingReportingOverflow(UInt64(countWidth))
        guard !overflow else { return tags }
        let table = try file.read(at: first, count: entries * entrySize)
        for index in 0..<entries {
            let entry = index * entrySize
            guard let tag = table.number(2, at: entry, order),
                let length = table.number(width, at: entry + 4, order)
            else { break }
            let value = entry + 4 + width
            switch tag {
            case 0x00FE: tags.isReduced = table.number(4, at: value, order) == 1
            case 0x010F where length > UInt64(width):
                guard let place = table.number(width, at: value, order) else { break }
                let text = try file.read(at: place, count: Int(clamping: min(length, 64)))
                tags.maker = lowerText(text.bytes[...])
            case 0x010F:
                tags.maker = lowerText(table.slice(at: value, count: Int(clamping: length)))
            case 0x014A: tags.hasSubdirectories = true
            case 0xC612: tags.hasDNGVersion = true
            case 0xC634: tags.hasSonyPrivate = true
            default: break
            }
        }
        return tags
    }

    private static func lowerText(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        for byte in bytes.prefix(while: { $0 != 0 }) {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return text.lowercased()
    }
}
