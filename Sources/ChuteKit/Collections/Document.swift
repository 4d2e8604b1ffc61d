/// A document of a collection, as it stands in one committed state.
public struct Document: Hashable, Identifiable, Sendable {
    /// What names it within its collection.
    public let id: DocumentID
    /// The collection that it is in.
    public let collection: String
    /// The device that alone may write it; `nil` for one that anybody may write.
    public let origin: DeviceID?
    /// All of its content.
    public let fields: Fields

    /// The field of a name, there or not: `document["image"].attachmentToken`.
    public subscript(name: String) -> DocumentField { DocumentField(value: fields[name]) }

    /// The value at the end of a path, there or not.
    public subscript(path: FieldPath) -> DocumentField { DocumentField(value: fields[path]) }

    /// What its writer says that its attachment is; `image/jpeg` where it says nothing, as
    /// writers of such documents mean it. Look at the bytes to be sure.
    public var mimeType: String { self["mimeType"].string ?? "image/jpeg" }
}

/// A place in a document: the value there, or none.
public struct DocumentField: Hashable, Sendable {
    /// The value; `nil` where there is none.
    public let value: Value?

    /// The field of a map; nothing is there where this is none.
    public subscript(name: String) -> DocumentField { DocumentField(value: value?.map?[name]) }

    /// An element of an array; nothing is there where this is none, or has fewer.
    public subscript(index: Int) -> DocumentField {
        let array = value?.array
        let isThere = array.map { $0.indices.contains(index) } ?? false
        return DocumentField(value: isThere ? array?[index] : nil)
    }

    /// Whether there is a value; `null` is one.
    public var exists: Bool { value != nil }
    /// The text, if it is text.
    public var string: String? { value?.string }
    /// The whole number, if it is one.
    public var integer: Int64? { value?.integer }
    /// The number, if it is one, whole or not.
    public var double: Double? { value?.double }
    /// True or false, if it is either.
    public var bool: Bool? { value?.bool }
    /// The bytes, if they are bytes.
    public var bytes: [UInt8]? { value?.bytes }
    /// The values in their order, if it is an array.
    public var array: [Value]? { value?.array }
    /// The values by name, if it is a map.
    public var map: Fields? { value?.map }
    /// The token of an attachment, if it is one: what is fetched by.
    public var attachmentToken: AttachmentToken? { value?.attachmentToken }
}
