extension DocumentCollection {
    /// Makes a document; its id, a new one where neither `id` nor the field `_id` gives one.
    /// Durable when it returns.
    ///
    /// Throws `alreadyExists` where there is such a document, `invalid` for fields that are no
    /// document, `tooLarge` over 5 MB, `notAllowed` where this device may only send files.
    @discardableResult
    public func insert(_ fields: Fields, as id: DocumentID? = nil) async throws -> DocumentID {
        try checkName()
        let name = name
        return try await store.write { try $0.insert(fields, as: id, in: name) }
    }

    /// Makes a document of a value of a type of your own; its property `_id`, where it has one
    /// that is not nil, is the id. Throws as `insert(_:as:)`, and `EncodingError`.
    @discardableResult
    public func insert(encoding value: some Encodable & Sendable) async throws -> DocumentID {
        try await insert(ValueEncoder().encode(fields: value))
    }

    /// Makes many documents in one transaction: all of them or none. Their ids, in order.
    @discardableResult
    public func insert(all documents: [Fields]) async throws -> [DocumentID] {
        try checkName()
        let name = name
        return try await store.write { transaction in
            try documents.map { try transaction.insert($0, in: name) }
        }
    }

    /// Makes a document, or writes these fields of the one that there is; others stay. Durable
    /// when it returns. Throws as `insert(_:as:)`.
    @discardableResult
    public func upsert(_ fields: Fields, as id: DocumentID? = nil) async throws -> DocumentID {
        try checkName()
        let name = name
        return try await store.write { try $0.upsert(fields, as: id, in: name) }
    }

    /// Makes a document of a value of a type of your own, or writes its fields.
    @discardableResult
    public func upsert(encoding value: some Encodable & Sendable) async throws -> DocumentID {
        try await upsert(ValueEncoder().encode(fields: value))
    }

    /// The document of an id, there or not; nothing is read before it is asked for.
    public func findByID(_ id: DocumentID) -> PendingDocument {
        PendingDocument(collection: self, id: id)
    }

    /// The document whose id is this text.
    ///
    /// Throws `invalid` for a text that is no id: none, or over 128 bytes.
    public func findByID(_ text: String) throws -> PendingDocument {
        guard let id = DocumentID(text) else {
            throw ChuteError(.invalid, "an id has 1 to 128 bytes")
        }
        return findByID(id)
    }
}

/// One document by its id, to be looked at or changed.
public struct PendingDocument: Sendable {
    /// The collection.
    public let collection: DocumentCollection
    /// What names the document there.
    public let id: DocumentID

    /// The document as it stands; `nil` where there is none.
    public func exec() async throws -> Document? {
        try collection.checkName()
        let (id, name) = (id, collection.name)
        return try await collection.store.read { try $0.find(id, in: name) }
    }

    /// Writes single fields: those that `body` sets or removes. Durable when it returns.
    ///
    /// Throws `notFound` where there is no such document, `notAllowed` for the file of another
    /// device, and what `body` throws: then nothing is written.
    public func update(_ body: @Sendable (MutableDocument) throws -> Void) async throws {
        try collection.checkName()
        let (id, name) = (id, collection.name)
        try await collection.store.write { try $0.update(id, in: name, body) }
    }

    /// Removes the document, for everybody; `false` where there is none. Durable when it returns.
    @discardableResult
    public func remove() async throws -> Bool {
        try collection.checkName()
        let (id, name) = (id, collection.name)
        return try await collection.store.write { try $0.remove(id, in: name) }
    }

    /// Puts the document away on this device alone; `false` where there is none.
    ///
    /// Nothing is asked of other devices, and they keep it. It shows again with the next change
    /// of it that comes from one of them.
    @discardableResult
    public func evict() async throws -> Bool {
        try collection.checkName()
        let (id, name) = (id, collection.name)
        return try await collection.store.write { try $0.evict(id, in: name) }
    }
}
