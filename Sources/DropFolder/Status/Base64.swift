/// The alphabet of RFC 4648, padded.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)

    static func text(_ bytes: [UInt8]) -> String {
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for index in 0..<3 {
                bits = bits << 8 | (index < group.count ? UInt32(group[start + index]) : 0)
            }
            for index in 0..<4 {
                if index <= group.count {
                    text.unicodeScalars.append(alphabet[Int(bits >> (18 - 6 * index) & 63)])
                } else {
                    text += "="
                }
            }
        }
        return text
    }
}
