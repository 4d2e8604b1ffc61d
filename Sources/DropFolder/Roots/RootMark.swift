import ChuteSystem

/// What `.chute/id` in an inbox or outbox says: which folder this is, and what it is used for.
///
/// Text: the id as 32 hexadecimal digits, then a line `inbox SPACE`, `outbox SPACE` or
/// `after-ingest SPACE` for each use; SPACE is the space's id as text, `-` where there was none yet.
package struct RootMark: Hashable, Sendable {
    package struct Use: Hashable, Sendable {
        package enum Kind: String, Sendable {
            case inbox, outbox
            /// Where dropped files are moved to once others have them.
            case afterIngest = "after-ingest"
        }
        package var kind: Kind
        /// The space's id as text, without white space; `nil` where the device was alone.
        package var space: String?

        package init(_ kind: Kind, space: String?) {
            self.kind = kind
            self.space = space
        }
    }

    package var id: [UInt8]
    package var uses: [Use]

    /// A mark with 16 fresh random bytes.
    package init(uses: [Use]) {
        id = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        self.uses = uses
    }

    /// `nil` where `text` is no mark. Lines of kinds that are not known are passed over.
    package init?(text: [UInt8]) {
        guard let string = String(validating: text, as: UTF8.self) else { return nil }
        let lines = string.split(separator: "\n")
        guard let first = lines.first, let id = Hexadecimal.bytes(first), id.count == 16
        else { return nil }
        self.id = id
        uses = lines.dropFirst().prefix(64).compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let kind = Use.Kind(rawValue: String(words[0])) else {
                return nil
            }
            return Use(kind, space: words[1] == "-" ? nil : String(words[1]))
        }
    }

    package var text: [UInt8] {
        let lines = uses.map { "\($0.kind.rawValue) \($0.space ?? "-")\n" }
        return Array((Hexadecimal.text(id) + "\n" + lines.joined()).utf8)
    }
}
