/// Tells bytes without any structure, such as encrypted or random ones, from their beginning.
///
/// libmagic tries thousands of rules on them, for a quarter of a millisecond, and finds none, or
/// now and then one of two bytes that they have by chance.
enum NoiseLook {
    private static let length = 512

    /// Whether the first 512 bytes are spread as evenly as chance spreads them, and do not begin
    /// with one of the signatures that are followed by such bytes at once.
    static func isNoise(_ head: Excerpt) -> Bool {
        let bytes = head.bytes.prefix(length)
        guard bytes.count == length, let first = bytes.first,
            let second = bytes.dropFirst().first, !isSignature(first, second)
        else { return false }
        var counts = [UInt8](repeating: 0, count: 256)
        var run = 0
        var letters = 0
        var last: UInt8?
        for (offset, byte) in bytes.enumerated() {
            counts[Int(byte)] &+= 1
            run = byte == last ? run + 1 : 1
            last = byte
            // Chance repeats a byte four times in a row once in 30,000 such beginnings.
            if run > 3 || counts[Int(byte)] > 14 { return false }
            letters = isLetter(byte) ? letters + 1 : 0
            // A name of four letters at the start, such as RIFF, and words anywhere: chance has
            // the one in 2 of 100 such beginnings, the other in 1 of 600.
            if letters > 6 || (letters > 3 && offset < 16) { return false }
        }
        // Of 256 values 512 even bytes have 221, give or take 6.
        return counts.count { $0 > 0 } >= 195
    }

    /// Streams that begin with two bytes of their own and look even from there on: JPEG XL,
    /// MPEG audio, AC-3, DTS, compressed and encrypted data.
    private static func isSignature(_ first: UInt8, _ second: UInt8) -> Bool {
        switch (first, second) {
        case (0xFF, 0x0A), (0xFF, 0xE0...0xFF), (0x0B, 0x77), (0x77, 0x0B), (0x7F, 0xFE),
            (0xFE, 0x7F):
            true
        case (0x1F, _), (0x78, 0x01), (0x78, 0x5E), (0x78, 0x9C), (0x78, 0xDA): true
        case (0x42, 0x5A), (0xFD, 0x37), (0x28, 0xB5), (0x04, 0x22), (0x5D, 0x00): true
        case (0x84...0x86, _), (0x95, _), (0x99, _), (0xC1, _): true  // OpenPGP packets
        default: false
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte & 0xDF)
    }
}
