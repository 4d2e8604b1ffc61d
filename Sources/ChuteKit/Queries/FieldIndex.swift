/// A declared index: for each document of a collection the value of one field.
struct FieldIndex: Hashable, Sendable {
    /// How many bytes of a value's key are kept: what is longer has to be looked at.
    static let keyLimit = 256

    /// The number of its rows.
    let number: Int64
    let path: FieldPath

    /// What is kept of a document.
    func key(of fields: Fields) -> [UInt8] {
        let key = OrderKey.of(fields[path])
        return key.count > Self.keyLimit ? Array(key[..<Self.keyLimit]) : key
    }
}
