/// Bytes cut out of a file that nobody vouches for: every access is checked, none traps.
struct Excerpt: Sendable {
    enum ByteOrder: Sendable { case big, little }

    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }

    /// The byte at `offset`, if there is one.
    func byte(at offset: Int) -> UInt8? {
        offset >= 0 && offset < bytes.count ? bytes[offset] : nil
    }

    /// The unsigned number of `width` bytes (at most 8) at `offset`.
    func number(_ width: Int, at offset: Int, _ order: ByteOrder = .big) -> UInt64? {
        guard offset >= 0, offset <= bytes.count, bytes.count - offset >= width else { return nil }
        var value: UInt64 = 0
        for index in 0..<width {
            let position = order == .big ? index : width - 1 - index
            value = value << 8 | UInt64(bytes[offset + position])
        }
        return value
    }

    /// Whether the bytes of `wanted` stand at `offset`.
    func has(_ wanted: some Collection<UInt8>, at offset: Int = 0) -> Bool {
        guard offset >= 0, offset <= bytes.count, bytes.count - offset >= wanted.count else {
            return false
        }
        return bytes[offset...].starts(with: wanted)
    }

    /// Whether the UTF-8 bytes of `text` stand at `offset`.
    func has(_ text: String, at offset: Int = 0) -> Bool { has(text.utf8, at: offset) }

    /// The four bytes at `offset` as a code such as `ftyp`, each byte one character.
    func code(at offset: Int) -> String? {
        guard number(4, at: offset) != nil else { return nil }
        var text = ""
        for byte in bytes[offset..<offset + 4] { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return text
    }

    /// The bytes from `offset` on, at most `count`, fewer where they end.
    func slice(at offset: Int, count: Int) -> ArraySlice<UInt8> {
        guard offset >= 0, offset < bytes.count, count > 0 else { return [] }
        return bytes[offset..<(offset + min(count, bytes.count - offset))]
    }

    /// Where `text` stands first at or after `start` and before `limit`.
    func firstIndex(of text: String, from start: Int = 0, limit: Int = .max) -> Int? {
        let wanted = Array(text.utf8)
        guard let first = wanted.first, start >= 0, start < bytes.count else { return nil }
        let end = min(limit, bytes.count)
        var index = start
        while index < end {
            if bytes[index] == first, has(wanted, at: index) { return index }
            index += 1
        }
        return nil
    }

    /// Where `text` stands last.
    func lastIndex(of text: String) -> Int? {
        let wanted = Array(text.utf8)
        var index = bytes.count - wanted.count
        while index >= 0 {
            if has(wanted, at: index) { return index }
            index -= 1
        }
        return nil
    }

    /// Whether `range`, as far as there are bytes, holds zeros only.
    func isZero(in range: Range<Int>) -> Bool {
        bytes[range.clamped(to: 0..<bytes.count)].allSatisfy { $0 == 0 }
    }
}
