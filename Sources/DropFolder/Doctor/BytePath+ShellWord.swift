package import ChuteSystem

extension BytePath {
    /// The path as one word of a shell's command line.
    package var shellWord: String {
        let plain = Array("/._-+,:@%".utf8)
        let isPlain = bytes.allSatisfy { byte in
            plain.contains(byte) || (byte < 0x80 && Character(Unicode.Scalar(byte)).isWordLike)
        }
        if isPlain { return description }
        if string == description { return "'" + description.replacing("'", with: "'\\''") + "'" }
        // The description's escapes are those of this kind of quotes.
        return "$'" + description.replacing("'", with: "\\'") + "'"
    }
}

extension Character {
    fileprivate var isWordLike: Bool { isLetter || isNumber }
}
