import ChuteSystem

/// Writing documents that any member of the space may write.
extension Transaction {
    /// A document of more than this many bytes is said to be large: its bytes belong into an
    /// attachment.
    static let warningSize = 250_000
    /// A document of more bytes than this is refused.
    static let sizeLimit = 5_000_000

    /// Makes a document; its id, a new one where neither `id` nor the field `_id` gives one.
    ///
    /// Throws `alreadyExists` where there is such a document, `invalid` for fields that are no
    /// document, `tooLarge` over 5 MB, `notAllowed` where this device may only send files.
    @discardableResult
    public func insert(
        _ fields: Fields, as id: DocumentID? = nil, in collection: String
    ) throws -> DocumentID {
        var fields = fields
        let given = try id ?? fields.takeID()
        guard let given else {
            let id = state.ids.next(now: now)
            try checkWriting(in: collection)
            for field in fields.all { try field.check() }
            try make(id, in: collection, fields)
            return id
        }
        let known = try merged(given, in: collection)
        guard known.map({ MergedDocument(merging: $0.live).fields == nil }) ?? true else {
            throw ChuteError(
                .alreadyExists,
                "there is a document \(given) in \(collection): update or upsert it")
        }
        try write(FieldWrites(inserting: fields), given, in: collection, known: known)
        return given
    }

    /// Makes a document, or writes these fields of the one that there is; others stay.
    @discardableResult
    public func upsert(
        _ fields: Fields, as id: DocumentID? = nil, in collection: String
    ) throws -> DocumentID {
        var fields = fields
        guard let given = try id ?? fields.takeID() else {
            return try insert(fields, in: collection)
        }
        try write(
            FieldWrites(inserting: fields), given, in: collection,
            known: merged(given, in: collection))
        return given
    }

    /// Writes single fields of a document: those that `body` sets or removes. Nothing is written
    /// where it sets none.
    ///
    /// Throws `notFound` where there is no such document, and what `body` throws.
    public func update(
        _ id: DocumentID, in collection: String, _ body: (MutableDocument) throws -> Void
    ) throws {
        guard let document = try find(id, in: collection) else {
            throw ChuteError(.notFound, "there is no document \(id) in \(collection)")
        }
        let mutable = MutableDocument(document)
        try body(mutable)
        guard !mutable.writes.isEmpty else { return }
        try write(
            FieldWrites(isInsert: false, writes: mutable.writes), id, in: collection,
            known: merged(id, in: collection))
    }

    /// Removes a document, for everybody; `false` where there is none.
    ///
    /// Only an insert of the same id brings it back. What others write of it at the same time
    /// does not.
    @discardableResult
    public func remove(_ id: DocumentID, in collection: String) throws -> Bool {
        try checkWriting(id, in: collection)
        let known = try merged(id, in: collection)
        guard let known, MergedDocument(merging: known.live).fields != nil else { return false }
        try commit(.remove, body: nil, id, in: collection, known: known)
        return true
    }

    /// Puts a document away here alone; `false` where there is none that is shown.
    ///
    /// The other devices keep it, and nothing is asked of them. It is shown again with the next
    /// change of it that comes. Bytes that it alone names can be collected as garbage once
    /// another member is known to have them.
    @discardableResult
    public func evict(_ id: DocumentID, in collection: String) throws -> Bool {
        try checkWriting(id, in: collection)
        guard let known = try merged(id, in: collection), known.isShown,
            let fields = MergedDocument(merging: known.live).fields
        else { return false }
        try note(id.bytes, in: collection, isShown: false)
        try database.prepare(
            "UPDATE documents SET hidden = 2, body = NULL WHERE collection = ? AND id = ?"
        ).run(collection, id.bytes)
        for token in fields.attachmentTokens where try isHeldElsewhere(token.id) {
            try database.prepare(
                """
                DELETE FROM tokens
                WHERE digest = ? AND length = ? AND collection = ? AND document = ?
                """
            ).run(token.id.digest.bytes, token.id.byteCount, collection, id.bytes)
            // Before the bytes can go: who puts the document away next must not rely on them.
            try takeBackAcknowledgement(of: token.id, for: id)
        }
        touched.insert(.documents)
        return true
    }

    private func write(
        _ writes: FieldWrites, _ id: DocumentID, in collection: String, known: Merged?
    ) throws {
        try checkWriting(id, in: collection)
        for write in writes.writes { try write.check() }
        try commit(.fields, body: writes, id, in: collection, known: known)
    }

    private func commit(
        _ kind: Change.Kind, body: FieldWrites?, _ id: DocumentID, in collection: String,
        known: Merged?
    ) throws {
        let latest = known?.live.map(\.order.stamp).max()
        let change = nextChange(
            kind, in: collection, document: id, over: latest, body: body?.cbor)
        try check(change)
        let entry = MergedDocument.Entry(
            number: 0,
            order: .init(stamp: change.stamp, author: device, hash: change.hash), writes: body)
        let document = MergedDocument(merging: (known?.live ?? []) + [entry])
        guard document.live.contains(0), kind != .remove || document.fields == nil else {
            throw ChuteError(
                .notAllowed,
                "a member wrote document \(id) in \(collection) as at the end of the year "
                    + "9999: nothing can be written after that. Evict it, or remove that member")
        }
        let content = document.body
        // Before anything is written: whoever catches the error may commit the rest.
        try checkSize(content?.count ?? 0, of: id, in: collection)
        let n = try insertOwn(change)
        try keep(document.kept(in: n), body: content, id, in: collection, known: known, n: n)
        try acknowledgeAttachments(of: document.fields, in: id, collection)
    }

    /// Makes a document that nobody has heard of yet: what it will be is what is written.
    private func make(_ id: DocumentID, in collection: String, _ fields: Fields) throws {
        let content = fields.cbor
        let body = content.encoded()
        try checkSize(body.count, of: id, in: collection)
        let change = nextChange(
            .fields, in: collection, document: id, body: FieldWrites.cbor(inserting: content))
        try check(change)
        let n = try insertOwn(change)
        try store(
            DocumentRow(
                collection: collection, id: id, n: n, owner: nil, live: [n], body: body),
            fields: fields, isNew: true)
        try acknowledgeAttachments(of: fields, in: id, collection)
    }

    private func checkSize(
        _ size: Int, of id: DocumentID, in collection: String
    ) throws {
        guard size <= Self.sizeLimit else { throw Self.tooLarge(id, collection) }
        guard size > Self.warningSize else { return }
        warnings.append(
            "document \(id) in \(collection) has \(size / 1000) KB: put large data into "
                + "an attachment, which travels only to whoever asks for it")
    }

    private func checkWriting(_ id: DocumentID, in collection: String) throws {
        try checkWriting(in: collection)
        guard try current(ofDocument: id, in: collection) == nil else {
            throw ChuteError(
                .notAllowed,
                "document \(id) in \(collection) is a file of one device, which alone may "
                    + "change it")
        }
    }

    private func checkWriting(in collection: String) throws {
        guard state.membership.role(of: device) != .sender else {
            throw ChuteError(
                .notAllowed, "this device may only send files to the space, not write documents")
        }
        guard collection.utf8.first != UInt8(ascii: "_"), (1...255).contains(collection.utf8.count)
        else { throw DocumentCollection.invalidName(collection) }
    }

    /// Throws `tooLarge` for what no device would take: nothing of it could be read again.
    private func check(_ change: Change) throws {
        guard change.bytes.count <= Change.sizeLimit else {
            throw Self.tooLarge(change.document, change.collection)
        }
        // Each value takes a byte at least: only a large one can have too many.
        guard change.bytes.count > CBOR.Limits().itemCount else { return }
        do { _ = try Change(bytes: change.bytes) } catch {
            throw ChuteError(
                .tooLarge,
                "what is written of document \(change.document) in \(change.collection) has "
                    + "too many values: put them into an attachment, or into one value of bytes",
                cause: error)
        }
    }

    private static func tooLarge(_ id: DocumentID, _ collection: String) -> ChuteError {
        ChuteError(
            .tooLarge,
            "document \(id) in \(collection) would have more than 5 MB: put the bytes into "
                + "an attachment")
    }

    /// Whether another member says that it has the bytes.
    private func isHeldElsewhere(_ attachment: AttachmentID) throws -> Bool {
        try !holders(of: attachment).subtracting([device]).isEmpty
    }
}

extension Fields {
    /// Takes the field `_id` out, which names the document; throws `invalid` where it is none.
    fileprivate mutating func takeID() throws -> DocumentID? {
        guard let value = self["_id"] else { return nil }
        guard let id = value.string.flatMap({ DocumentID($0) }) else {
            throw ChuteError(.invalid, "_id is not a text of 1 to 128 bytes")
        }
        self["_id"] = nil
        return id
    }
}
