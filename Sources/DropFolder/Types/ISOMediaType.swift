import ChuteSystem

/// Names files of the ISO base media family by their brands: MP4, QuickTime, 3GP, HEIF, AVIF,
/// Canon CR3, JPEG 2000, JPEG XL.
enum ISOMediaType {
    static func type(of file: BoundedFile) throws(SystemError) -> MIMEType? {
        guard ISOStructure.isMedia(file.head) else { return nil }
        switch file.head.code(at: 4) {
        case "ftyp": return try branded(file, at: 0)
        case "jP  ": return try branded(file, at: 12)
        case "JXL ": return "image/jxl"
        default: return try unbranded(file)
        }
    }

    /// The type by the `ftyp` box at `start`.
    private static func branded(
        _ file: BoundedFile, at start: UInt64
    ) throws(SystemError) -> MIMEType? {
        let box = try file.read(at: start, count: 512)
        guard box.code(at: 4) == "ftyp", let size = box.number(4, at: 0),
            let major = box.code(at: 8)
        else { return nil }
        let end = Int(clamping: min(size, 512))
        let minor = box.code(at: 12) ?? ""
        let compatible = Set(
            stride(from: 16, to: end, by: 4).compactMap { $0 + 4 <= end ? box.code(at: $0) : nil })
        if let type = stillType(major, minor: minor, compatible: compatible) { return type }
        return try movieType(major, compatible: compatible, file: file, start: start)
    }

    private static func stillType(
        _ major: String, minor: String, compatible: Set<String>
    ) -> MIMEType? {
        switch major {
        case "avif", "avis": return "image/avif"
        case "heic", "heix", "heim", "heis": return "image/heic"
        case "hevc", "hevx", "hevm", "hevs": return "image/heic-sequence"
        case "mif3": return minor == "avif" ? "image/avif" : "image/heif"
        case "mif1", "mif2", "miaf", "jpeg":
            return compatible.isDisjoint(with: ["avif", "avis"]) ? "image/heif" : "image/avif"
        case "msf1", "jpgs":
            return compatible.contains("avis") ? "image/avif" : "image/heif-sequence"
        case "j2ki": return "image/hej2k"
        case "j2is": return "image/j2is"
        case "avci": return "image/avci"
        case "avcs": return "image/avcs"
        case "vvic", "vvis": return "image/vvic"
        case "crx ": return "image/x-canon-cr3"
        case "jp2 ": return "image/jp2"
        case "jpx ": return "image/jpx"
        case "jpm ": return "image/jpm"
        case "mjp2", "mj2s": return "image/mj2"
        case "jxl ": return "image/jxl"
        default: return nil
        }
    }

    private static func movieType(
        _ major: String, compatible: Set<String>, file: BoundedFile, start: UInt64
    ) throws(SystemError) -> MIMEType? {
        switch major {
        case "qt  ": return "video/quicktime"
        case "M4A ", "M4B ", "M4P ", "F4A ", "F4B ": return "audio/mp4"
        case "M4V ", "M4VH", "M4VP": return "video/x-m4v"
        case _ where major.hasPrefix("3g2"):
            return try hasOnlySound(file, from: start) ? "audio/3gpp2" : "video/3gpp2"
        case _ where major.hasPrefix("3g"):
            return try hasOnlySound(file, from: start) ? "audio/3gpp" : "video/3gpp"
        default: break
        }
        // Anything may stand in a brand: an unknown one counts if a known one stands beside it.
        guard movieBrands.contains(major) || !movieBrands.isDisjoint(with: compatible) else {
            return nil
        }
        return try hasOnlySound(file, from: start) ? "audio/mp4" : "video/mp4"
    }

    private static let movieBrands: Set<String> = [
        "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "isoa", "isob",
        "iso1", "mp41", "mp42", "mp71", "mp4v", "avc1", "hvc1", "hev1", "av01", "dash", "cmfc",
        "cmfs", "cmff", "cmf2", "msdh", "msix", "mmp4", "MSNV", "XAVC", "F4V ", "F4P ", "NDAS",
        "NDSC", "NDSH", "NDSM", "NDSP", "NDSS", "NDXC", "NDXH", "NDXM", "NDXP", "NDXS", "CAEP",
        "pana", "niko", "CDes", "dby1", "ccff", "ARRI",
    ]

    /// QuickTime from before brands, and files with padding before `ftyp`.
    private static func unbranded(_ file: BoundedFile) throws(SystemError) -> MIMEType? {
        var boxes = ISOBoxes(from: 0, to: file.size, limit: 32)
        while let box = try boxes.next(in: file) {
            switch box.kind {
            case "ftyp": return try branded(file, at: box.start)
            case "moov", "mdat": return "video/quicktime"
            case "wide", "free", "skip", "pnot", "udta", "uuid", "PICT": continue
            default: return nil
            }
        }
        return nil
    }

    /// Whether the tracks of the movie are sound and none is a picture.
    private static func hasOnlySound(
        _ file: BoundedFile, from start: UInt64
    ) throws(SystemError) -> Bool {
        var boxes = ISOBoxes(from: start, to: file.size)
        guard let movie = try boxes.first("moov", in: file) else { return false }
        var tracks = ISOBoxes(from: movie.body, to: min(movie.end, file.size))
        var hasSound = false
        while let track = try tracks.first("trak", in: file) {
            var parts = ISOBoxes(from: track.body, to: min(track.end, file.size), limit: 32)
            guard let media = try parts.first("mdia", in: file) else { continue }
            var inner = ISOBoxes(from: media.body, to: min(media.end, file.size), limit: 32)
            guard let handler = try inner.first("hdlr", in: file) else { continue }
            switch try file.read(at: handler.body, count: 12).code(at: 8) {
            case "soun": hasSound = true
            case "vide", "auxv", "pict": return false
            default: continue
            }
        }
        return hasSound
    }
}
