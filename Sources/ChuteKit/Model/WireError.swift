/// Bytes from a peer, or from the database, that are not what they should be.
enum WireError: Error, Hashable, CustomStringConvertible {
    /// Not the shape that is expected here.
    case malformed(String)
    /// Longer or more than allowed.
    case tooLarge(String)
    /// Signed wrongly, or not by whom it says.
    case badSignature
    /// Of another space.
    case wrongSpace
    /// A message that has no place at this point.
    case unexpected(String)

    var description: String {
        switch self {
        case .malformed(let what): "malformed: \(what)"
        case .tooLarge(let what): "too large: \(what)"
        case .badSignature: "the signature does not hold"
        case .wrongSpace: "it belongs to another space"
        case .unexpected(let what): "unexpected: \(what)"
        }
    }
}
