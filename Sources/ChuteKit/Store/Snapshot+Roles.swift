import ChuteSystem

/// What a role lets a peer see.
extension Snapshot {
    /// Whether a row of changes can be of use to a peer, by its kind and author alone.
    static func mayConcern(
        _ scope: PeerView.Scope, _ row: borrowing Row, kind: Int32, author: Int32
    ) -> Bool {
        guard case .sender(let sender) = scope else { return true }
        guard let code = row.optionalInt64(kind), let author = row.optionalBytes(author),
            let author = DeviceID(bytes: author)
        else { return false }
        return sender.mayConcern(
            UInt64(exactly: code).flatMap(Change.Kind.init), by: author)
    }

    /// Whether a peer may know a change.
    func isSeen(_ body: [UInt8], in scope: PeerView.Scope) throws -> Bool {
        guard case .sender(let sender) = scope else { return true }
        return try sender.concerns(try Change(bytes: body)) { document, collection in
            try isDocument(document, in: collection, of: sender.device)
        }
    }

    private func isDocument(
        _ id: DocumentID, in collection: String, of origin: DeviceID
    ) throws -> Bool {
        try database.prepare(
            "SELECT 1 FROM documents WHERE collection = ? AND id = ? AND origin = ?"
        ).first(collection, id.bytes, origin.digest.bytes) { _ in true } ?? false
    }

    /// Which of `attachments` live documents of `origin` name that it alone may write.
    func named(
        _ attachments: some Sequence<AttachmentID>, by origin: DeviceID
    ) throws -> Set<AttachmentID> {
        let select = try database.prepare(
            """
            SELECT 1 FROM tokens t JOIN documents d
            ON d.collection = t.collection AND d.id = t.document
            WHERE t.digest = ? AND t.length = ? AND d.origin = ? AND d.hidden = 0
            AND d.body IS NOT NULL LIMIT 1
            """)
        var named: Set<AttachmentID> = []
        for attachment in attachments {
            let isNamed = try select.first(
                attachment.digest.bytes, attachment.byteCount, origin.digest.bytes
            ) { _ in true }
            if isNamed != nil { named.insert(attachment) }
        }
        return named
    }

    /// Whether a peer gets the bytes of an attachment.
    ///
    /// Who only sends gets those of its own documents, unless anybody else names them too: naming
    /// what it heard of elsewhere gives it nothing.
    func isServed(_ attachment: AttachmentID, in scope: PeerView.Scope) throws -> Bool {
        guard case .sender(let sender) = scope else { return try isNamed(attachment) }
        guard try named([attachment], by: sender.device).contains(attachment) else {
            return false
        }
        return try database.prepare(
            """
            SELECT 1 FROM tokens t JOIN documents d
            ON d.collection = t.collection AND d.id = t.document
            WHERE t.digest = ? AND t.length = ? AND d.origin IS NOT ? LIMIT 1
            """
        ).first(
            attachment.digest.bytes, attachment.byteCount, sender.device.digest.bytes
        ) { _ in true } == nil
    }
}

extension Snapshot {
    /// The other members that the documents of this device come to: the owners, and unless it
    /// only sends, every member that does not only send itself.
    public func recipients() throws -> [Member] { try members().filter(\.isRecipient) }

    /// The members of the space, this device too, in the order of their ids.
    public func members() throws -> [Member] {
        let standings = try memberStandings().filter { $0.value.isMember }
        let own = standings[device]?.role
        return try standings.sorted { $0.key < $1.key }.map { id, standing in
            let isTalkedTo = id != device && Role.mayTalk(own, standing.role)
            return Member(
                id: id, role: standing.role, profile: try profile(of: id),
                presence: try presence(of: id), lastHeard: try lastHeard(of: id),
                isTalkedTo: isTalkedTo, isRecipient: isTalkedTo && standing.role != .sender)
        }
    }
}
