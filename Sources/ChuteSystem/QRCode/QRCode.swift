import CQREncode

/// A square of dark and light modules that a camera reads as a text.
package struct QRCode: Hashable, Sendable {
    package let width: Int
    /// Row by row; `true` is dark.
    package let modules: [Bool]

    /// Encodes `text` with the lowest error correction that makes the smallest square; `nil`
    /// where it is too long for one. Calls `QRcode_encodeString8bit`.
    package init?(_ text: String) {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        self.width = width
        modules = (0..<(width * width)).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// The code as lines of half blocks, two rows of modules in each, with the quiet zone of
    /// light modules that readers need.
    ///
    /// Light modules are drawn and dark ones left, for terminals with light text on dark ground;
    /// cameras read it inverted too.
    package func halfBlocks(quietZone: Int = 2) -> [String] {
        stride(from: -quietZone, to: width + quietZone, by: 2).map { row in
            var line = ""
            for column in -quietZone..<(width + quietZone) {
                switch (isLight(row, column), isLight(row + 1, column)) {
                case (true, true): line += "█"
                case (true, false): line += "▀"
                case (false, true): line += "▄"
                case (false, false): line += " "
                }
            }
            return line
        }
    }

    private func isLight(_ row: Int, _ column: Int) -> Bool {
        guard (0..<width).contains(row), (0..<width).contains(column) else { return true }
        return !modules[row * width + column]
    }
}
