import ChuteSystem

/// Tells animated PNG from PNG: an `acTL` chunk before the first `IDAT`.
enum PNGType {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func type(of file: BoundedFile) throws(SystemError) -> MIMEType? {
        guard file.head.has(signature) else { return nil }
        var position = UInt64(signature.count)
        for _ in 0..<1024 {
            let header = try file.read(at: position, count: 8)
            guard let length = header.number(4, at: 0), let kind = header.code(at: 4) else { break }
            if kind == "acTL" { return "image/apng" }
            if kind == "IDAT" || kind == "IEND" { break }
            position += 12 + length
        }
        return "image/png"
    }
}
