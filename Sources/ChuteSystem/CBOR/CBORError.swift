/// Bytes that are not one deterministic CBOR item: why, and where.
package struct CBORError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: String, Sendable {
        case truncated = "the data ends within an item"
        case trailing = "there are bytes after the item"
        case malformed = "not CBOR"
        case forbidden = "a tag, a short float, undefined or an indefinite length"
        case notShortest = "a number or a length is not in its shortest form"
        case notCanonicalNaN = "a NaN other than the one allowed"
        case invalidText = "text that is not UTF-8"
        case unsortedKeys = "map keys not in order"
        case duplicateKey = "a map key twice"
        case tooDeep = "too many levels"
        case tooManyItems = "too many items"
    }

    package let reason: Reason
    /// The index of the item's first byte in the input.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { "\(reason.rawValue) (CBOR, at byte \(offset))" }
}
