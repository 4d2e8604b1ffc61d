/// Makes ids of documents that nobody else makes and that sort by when they were made: a ULID,
/// 26 letters of Crockford's base32, of which ten are the time in milliseconds.
struct GeneratedID: Sendable {
    private var milliseconds: UInt64 = 0
    private var high: UInt16 = 0
    private var low: UInt64 = 0

    private static let letters = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The next id: later ones sort after it, also within one millisecond and where the clock
    /// steps back.
    mutating func next(now: UInt64) -> DocumentID {
        if now > milliseconds {
            milliseconds = min(now, 1 << 48 - 1)
            high = .random(in: 0...(.max / 2))
            low = .random(in: 0...(.max))
        } else {
            let (sum, overflow) = low.addingReportingOverflow(1)
            low = sum
            if overflow { high += 1 }
        }
        var bits = UInt128(milliseconds) << 80 | UInt128(high) << 64 | UInt128(low)
        var text = [UInt8](repeating: 0, count: 26)
        for place in text.indices.reversed() {
            text[place] = Self.letters[Int(bits & 31)]
            bits >>= 5
        }
        return DocumentID(text: text)
    }
}
