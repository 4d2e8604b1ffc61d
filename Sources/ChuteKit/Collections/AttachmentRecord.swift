/// A document as something with an attachment: what a list of pictures needs to know of each.
public struct AttachmentRecord: Hashable, Identifiable, Sendable {
    /// The document.
    public let id: DocumentID
    /// What to fetch; `nil` for a document that has none: show nothing for it.
    public let token: AttachmentToken?
    /// What its writer says that it is; `image/jpeg` where it says nothing.
    public let mimeType: String

    /// What `document` has at `field`.
    public init(_ document: Document, field: FieldPath = "image") {
        id = document.id
        token = document[field].attachmentToken
        mimeType = document.mimeType
    }
}
