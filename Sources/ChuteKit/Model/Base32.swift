/// Base32 of RFC 4648, section 6, without padding.
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var letters: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                letters.append(alphabet[Int(bits >> UInt32(count) & 31)])
            }
        }
        if count > 0 { letters.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
        return letters
    }

    /// The bytes of `letters`, case ignored; `nil` for a foreign letter or left-over bits.
    static func decode(_ letters: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for letter in letters {
            let value: UInt8
            switch letter {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = letter - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = letter - UInt8(ascii: "a")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = letter - UInt8(ascii: "2") + 26
            default: return nil
            }
            bits = bits << 5 | UInt32(value)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard count < 5, bits & ((1 << UInt32(count)) - 1) == 0 else { return nil }
        return bytes
    }
}
