/// A document that one device alone writes, as it stands: the version that counts now.
///
/// The drop folder's kind: one register that is never merged in parts. `Document` is what
/// anybody in the space may write.
public struct OwnedDocument: Hashable, Sendable {
    /// The collection that it is in.
    public let collection: String
    /// Its id.
    public let id: DocumentID
    /// The device that alone may write it.
    public let origin: DeviceID
    /// The origin's count of its versions.
    public let version: UInt64
    /// The hash of the change that made this version: what receipts name.
    public let versionID: Digest
    /// When it was learned here: grows with every version of any document.
    public let learned: Int64
    /// What, with origin and collection, makes the id.
    public let seed: Digest
    /// The content; `nil` once the origin took the document back.
    public let fields: Fields?

    /// The value of a field.
    public subscript(name: String) -> Value? { fields?[name] }
}
