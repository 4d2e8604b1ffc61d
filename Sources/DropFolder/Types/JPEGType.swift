import ChuteSystem

/// Tells JPEG from JPEG-LS, whose files begin alike.
enum JPEGType {
    static func type(of file: BoundedFile) throws(SystemError) -> MIMEType? {
        guard file.head.has([0xFF, 0xD8, 0xFF]) else { return nil }
        var position: UInt64 = 2
        for _ in 0..<64 {
            let header = try file.read(at: position, count: 4)
            guard let mark = header.number(2, at: 0), let length = header.number(2, at: 2),
                mark >= 0xFF00, length >= 2
            else { break }
            switch mark {
            case 0xFFF7: return "image/jls"
            case 0xFFC0...0xFFC3, 0xFFC5...0xFFC7, 0xFFC9...0xFFCB, 0xFFCD...0xFFCF, 0xFFDA:
                return "image/jpeg"
            default: position += 2 + length
            }
        }
        return "image/jpeg"
    }
}
