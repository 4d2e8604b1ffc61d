/// What one device keeps: collections of documents, and where the bytes of attachments lie.
///
/// Works without any peer; `Chute.startSync()` shares it.
public struct Store: Sendable {
    let writer: StoreWriter
    let reader: StoreReader
    private let ownAttachments: AttachmentStore?

    /// Every engine has attachments; a store without one takes none in and fetches none.
    init(writer: StoreWriter, reader: StoreReader, attachments: AttachmentStore? = nil) {
        self.writer = writer
        self.reader = reader
        ownAttachments = attachments
    }

    /// Throws `invalid` for a store without an engine, and `closed`.
    var attachments: AttachmentStore {
        get throws(ChuteError) {
            guard let ownAttachments else {
                throw ChuteError(.invalid, "a store without an engine has no attachments")
            }
            try ownAttachments.checkOpen()
            return ownAttachments
        }
    }

    /// The device whose store this is.
    public var device: DeviceID { writer.device }

    /// When what a transaction wrote survives a power cut.
    public enum Durability: Sendable {
        /// When `write` returns.
        case now
        /// With the next transaction that is durable at once. For what a peer or a look at the
        /// disk brings again: a cut takes it back as a whole, in the order of the commits.
        case withNext
    }

    /// Runs `body` in one transaction; all of it is durable when this returns, or, when `body`
    /// or the commit throws, nothing of it happened.
    ///
    /// `body` must not block on anything but the database. It runs anew where the disk was full:
    /// what it does beside the transaction must bear to be done again.
    public func write<Result: Sendable>(
        durable: Durability = .now, _ body: @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await writer.write(durable: durable, body)
    }

    /// Runs `body` on one committed state. `body` must not keep the snapshot.
    public func read<Result: Sendable>(
        _ body: @Sendable (Snapshot) throws -> Result
    ) async throws -> Result {
        try await reader.read(body)
    }

    /// Ends both, for good.
    func close() async throws {
        writer.prepareToClose()
        await reader.close()
        try await writer.close()
    }

    /// Tells those who wait on `topics` to look again, after another process wrote.
    public func look(at topics: Topics) { writer.look(at: topics) }

    /// One element now, and one after each commit that touches one of `topics`.
    public func updates(of topics: Topics) -> AsyncStream<Void> { writer.updates(of: topics) }
}
