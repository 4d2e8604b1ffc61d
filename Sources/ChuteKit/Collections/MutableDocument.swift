/// A document within the closure of an update: what is set here is written, field by field, when
/// the closure returns.
///
/// Not `Sendable`, and nothing outside of that closure.
public final class MutableDocument {
    /// What names it within its collection.
    public let id: DocumentID
    /// The content, with what was set so far.
    public private(set) var fields: Fields
    private(set) var writes: [FieldWrites.Write] = []

    init(_ document: Document) {
        id = document.id
        fields = document.fields
    }

    /// The field of a name, there or not.
    public subscript(name: String) -> MutableField {
        MutableField(document: self, path: FieldPath([name]))
    }

    /// The value at the end of a path, there or not.
    public subscript(path: FieldPath) -> MutableField { MutableField(document: self, path: path) }

    fileprivate func write(_ value: Value?, at path: FieldPath) {
        if value == nil, fields[path] == nil { return }
        writes.append(FieldWrites.Write(path: path, value: value))
        fields.write(value, at: path.names[...])
    }
}

/// A place in a document that is being updated.
public struct MutableField {
    fileprivate let document: MutableDocument
    fileprivate let path: FieldPath

    /// The field of the map that is here, or that will be once something is set.
    public subscript(name: String) -> MutableField {
        MutableField(document: document, path: FieldPath(path.names + [name]))
    }

    /// What is here, with what was set so far.
    public var current: DocumentField { DocumentField(value: document.fields[path]) }

    /// Writes a value here. What is on the way and is no map becomes one.
    public func set(_ value: Value) { document.write(value, at: path) }

    /// Writes text, a number, a token or an attachment here. Bytes that no document names then are
    /// garbage after a while.
    public func set(_ value: some ValueConvertible) { set(value.documentValue) }

    /// Removes what is here; nothing happens where there is nothing.
    public func remove() { document.write(nil, at: path) }
}
