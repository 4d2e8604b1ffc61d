import ChuteSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// An outbox writer on a real store and a real folder, without any peer: documents come into the
/// store as if they had been replicated, bytes into staged files as if they had been fetched.
final class WriterBench: Sendable {
    let top: BytePath
    let outbox: BytePath
    let chute: Chute
    let settings: FolderSettings
    let root: Int64
    let peer = DeviceID(publicKey: [1])
    private let key: [UInt8]
    private let contents = Mutex<[AttachmentID: [UInt8]]>([:])

    init(
        in top: BytePath, _ change: (inout FolderSettings) -> Void = { _ in }
    ) async throws {
        self.top = top
        outbox = top.appending("out")
        var settings = FolderSettings(collection: "c", outbox: outbox)
        settings.minFree = 0
        settings.layout = try OutboxLayout("{path}")
        change(&settings)
        self.settings = settings
        chute = try await Chute.open(
            identity: .paired, persistenceDirectory: top.appending("state"), network: .offline)
        let folder = try FolderRoot.establish(at: outbox, use: .init(.outbox, space: nil))
        let path = outbox
        let record = try await chute.store.write { transaction in
            let root = try transaction.registerRoot(mark: [1], path: path, role: "outbox")
            let record = FolderRecord(
                kind: .outbox, collection: "c", path: path, identity: folder.identity, root: root)
            try transaction.put(record)
            return record
        }
        root = record.root
        key = record.key
        chute.attach(root: root, path: outbox, mark: folder.identity.markPrefix, isKept: true)
    }

    /// Calls `body` with a bench in a temporary folder.
    static func with(
        _ change: (inout FolderSettings) -> Void = { _ in },
        _ body: (WriterBench) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { top in
            try await body(WriterBench(in: top, change))
        }
    }

    /// Runs a writer, as one start of the agent, while `body` runs.
    @discardableResult
    func withWriter<Value>(
        locks: FolderLocks = FolderLocks(), peers: [PeerSettings] = [],
        _ body: (OutboxWriter) async throws -> Value
    ) async throws -> Value {
        let writer = try await writer(locks: locks, peers: peers)
        let running = Task { try await writer.run() }
        let result: Result<Value, any Error>
        do { result = .success(try await body(writer)) } catch { result = .failure(error) }
        running.cancel()
        let end = await running.result
        if case .success = result, case .failure(let error) = end, !(error is CancellationError) {
            throw error
        }
        return try result.get()
    }

    /// Runs a writer that has looked at its copies: none is looked at again before `body` is done,
    /// unless it asks for that.
    @discardableResult
    func withWriterAfterCheck<Value>(
        _ body: (OutboxWriter) async throws -> Value
    ) async throws -> Value {
        try await withWriter { writer in
            // What comes second is taken up after all that the start asked for.
            for name in ["first", "second"] {
                let document = try await share(name, name)
                try await awaitWant(of: document)
            }
            return try await body(writer)
        }
    }

    /// A writer that does not run.
    func writer(
        locks: FolderLocks = FolderLocks(), peers: [PeerSettings] = []
    ) async throws -> OutboxWriter {
        let key = key
        let record = try await chute.store.read { try $0.row(FolderRecord.self, key) }
        return try OutboxWriter(
            chute: chute, folder: settings, peers: peers, record: #require(record),
            promises: SpacePromises(outboxes: [root]), locks: locks,
            log: Log(showsPriority: false))
    }

    /// Fills the staged files of all wants and says so, as the fetcher would.
    func fetch(for writer: OutboxWriter) async throws {
        for want in try await wants() {
            let bytes = try #require(contents.withLock { $0[want.attachment] })
            try stage(bytes, at: want.path)
            writer.events.post(.fetched([FetchOutcome(want: want, result: .completed, layer: [])]))
        }
    }

    /// Writes a staged file below the outbox.
    func stage(_ bytes: [UInt8], at path: BytePath) throws {
        let folder = try Folder(at: outbox)
        let file = try folder.open(path, O_RDWR | O_CREAT, mode: 0o666)
        try file.write(bytes, at: 0)
    }

    /// Shares a file, fetches it and waits until it has its name.
    func deliver(_ path: String, _ text: String) async throws -> OwnedDocument {
        let document = try await share(path, text)
        try await withWriter { writer in
            try await awaitWant(of: document)
            try await fetch(for: writer)
            try await awaitState(.delivered, of: document)
        }
        return document
    }

    /// A first version, or the one after `earlier`.
    func share(_ path: String, _ text: String, after earlier: OwnedDocument? = nil) async throws
        -> OwnedDocument
    {
        let bytes = Array(text.utf8)
        let file = FileDocument(
            token: AttachmentToken(id: try name(bytes)),
            path: path.split(separator: "/").map { Array($0.utf8) }, modified: 0, mode: 0,
            type: "text/plain")
        let id = earlier?.id ?? DocumentID(Digest(hashing: Array(path.utf8)))
        return try await write(id, version: (earlier?.version ?? 0) + 1, file.fields)
    }

    /// The peer takes a document back.
    func retract(_ document: OwnedDocument) async throws -> OwnedDocument {
        try await write(document.id, version: document.version + 1, nil)
    }

    /// The document is not to be seen any more, or again.
    func hide(_ document: OwnedDocument, _ isHidden: Bool) async throws {
        try await chute.store.write { transaction in
            try transaction.database.prepare(
                "UPDATE documents SET hidden = ?, n = (SELECT max(n) + 1 FROM documents)"
            ).run(isHidden)
            transaction.touched.insert([.documents, .members])
        }
    }

    private func write(
        _ id: DocumentID, version: UInt64, _ fields: Fields?
    ) async throws -> OwnedDocument {
        let peer = peer
        return try await chute.store.write { transaction in
            let n =
                try transaction.database.prepare("SELECT coalesce(max(n), 0) + 1 FROM documents")
                .first { $0.int64(0) } ?? 1
            let change = Digest(hashing: id.bytes, [UInt8(version)])
            try transaction.database.prepare(
                """
                INSERT OR REPLACE INTO documents
                (collection, id, origin, version, change, n, hidden, seed, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            ).run(
                "c", id.bytes, peer.digest.bytes, version, change.bytes, n, false, change.bytes,
                fields?.cbor.encoded())
            transaction.touched.insert(.documents)
            return try #require(try transaction.document(id, in: "c"))
        }
    }

    private func name(_ bytes: [UInt8]) throws -> AttachmentID {
        let file = try Folder(at: top).open("bytes", O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
        try file.write(bytes, at: 0)
        let hashed = try AttachmentHasher().hash(
            descriptor: file.raw, expectedLength: UInt64(bytes.count))
        let id = try #require(hashed?.attachment)
        contents.withLock { $0[id] = bytes }
        return id
    }

    func wants() async throws -> [Want] {
        try await chute.store.read { [root] in try $0.wants(inRoot: root) }
    }

    func delivery(of document: OwnedDocument) async throws -> DeliveryRecord? {
        let key = DeliveryRecord.key(root: root, document.id)
        return try await chute.store.read { try $0.row(DeliveryRecord.self, key) }
    }

    func receipt(for document: OwnedDocument) async throws -> Receipt? {
        try await chute.store.read { try $0.receipts(for: document)[$0.device] }
    }

    /// Waits until the bytes of this version are asked for.
    func awaitWant(of document: OwnedDocument) async throws {
        try await eventually("a want of \(document.version)") {
            let record = try await delivery(of: document)
            return record?.versionID == document.versionID && record?.want != nil
        }
    }

    func awaitState(_ state: DeliveryRecord.State, of document: OwnedDocument) async throws {
        try await eventually("\(state)") {
            let record = try await delivery(of: document)
            return record?.versionID == document.versionID && record?.state == state
        }
    }

    /// What a visible or hidden file says; `nil` where there is none.
    func text(_ path: BytePath) throws -> String? {
        let folder = try Folder(at: outbox)
        guard let status = try folder.status(of: path), status.kind == .regular else { return nil }
        let file = try folder.open(path, O_RDONLY)
        return String(decoding: try file.read(count: 1 << 16, at: 0), as: UTF8.self)
    }

    /// Writes over a file, as its user would in place.
    func edit(_ path: BytePath, _ text: String) throws {
        let file = try Folder(at: outbox).open(path, O_WRONLY | O_TRUNC)
        try file.write(Array(text.utf8), at: 0)
    }

    /// `<start>/<name>` of all files in staging.
    func staged() throws -> [BytePath] {
        let all = try Folder(at: outbox.appending(".chute/staging"))
        var found: [BytePath] = []
        // One that is reaped since it was listed has nothing.
        for start in try all.entries().map(\.name) where try all.status(of: start) != nil {
            found += try all.folder(at: start).entries().map { start.appending($0.name) }
        }
        return found
    }
}

extension OutboxWriter {
    /// Whether it has found its folder.
    var isOpen: Bool { place != nil }

    /// The folder of its start in the staging folder, once it has one.
    var start: BytePath? { place?.staging.start }
}
