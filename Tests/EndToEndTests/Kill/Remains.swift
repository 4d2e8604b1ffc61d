import ChuteSystem
import TestSupport

@testable import ChuteKit
@testable import DropFolder

/// What a killed agent left behind, looked at before it starts again: in which steps the kill
/// came, and what the store says was delivered.
///
/// The store is read in a copy, so that its next owner finds it as the kill left it.
struct Remains: Sendable {
    /// A file that was in a step when the kill came.
    struct Trace: Hashable, Sendable {
        let step: KillStep
        let file: BytePath
    }

    /// A receipt for a file, wherever it is known.
    struct Delivery: Hashable, Sendable {
        let document: DocumentID
        /// Below the inbox that it comes from.
        let path: BytePath
        let isRemoved: Bool
    }

    let home: AgentHome
    /// When the agent was started and killed, in nanoseconds since 1970.
    let started: FileStatus.Nanoseconds
    let killed: FileStatus.Nanoseconds
    private let store: AttachedStore

    /// What was written last before the kill has times this near to it: file systems take them
    /// from a clock that ticks every 10 ms at most, and the killed threads may have waited.
    private static let nearness: FileStatus.Nanoseconds = 50_000_000

    /// Calls `body` with what the agent of `home` left.
    static func look<Result>(
        at home: AgentHome, started: FileStatus.Nanoseconds, killed: FileStatus.Nanoseconds,
        _ body: (Remains) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { copy in
            let state = home.path.appending("state")
            for name: BytePath in ["device.key", "chute.db", "chute.db-wal"] {
                do throws(SystemError) {
                    let source = try FileDescriptor.open(
                        state.appending(name), FileDescriptor.readOnly)
                    let target = try FileDescriptor.open(
                        copy.appending(name), FileDescriptor.readWriteCreate, mode: 0o600)
                    try target.copyContents(of: source)
                } catch {
                    guard error.isNotFound else { throw error }
                }
            }
            guard let store = try AttachedStore(copy) else {
                throw NeverHappened(what: "a store of \(home.name)")
            }
            return try await body(
                Remains(home: home, started: started, killed: killed, store: store))
        }
    }

    /// Whether a file was written when the kill came.
    static func isFresh(_ status: FileStatus, at killed: FileStatus.Nanoseconds) -> Bool {
        status.allocated > 0 && status.modified >= killed - nearness
    }

    /// Files that the sender had read and held, and whose documents it had not committed.
    func ingested() async throws -> [Trace] {
        let held = home.inbox.appending(".chute/held")
        var traces: [Trace] = []
        for name in try Folder(at: held).entries().map(\.name) {
            guard let status = try Folder(at: held).status(of: name), status.changed >= started,
                let attachment = AttachmentID(heldName: name)
            else { continue }
            let collection = try await collection
            let documents = try await store.read {
                try $0.ownDocuments(in: collection, naming: attachment).count
            }
            if documents == 0 { traces.append(Trace(step: .ingest, file: name)) }
        }
        return traces
    }

    /// Files that the receiver wants and has in part, the last of which was just written.
    func fetched() async throws -> [Trace] {
        let wants = try await store.read { try $0.wants(after: 0, limit: .max) }
        let outbox = try Folder(at: home.outbox)
        var traces: [Trace] = []
        for want in wants {
            guard let status = try outbox.status(of: want.path),
                Self.isFresh(status, at: killed)
            else { continue }
            let file = try outbox.open(want.path, FileDescriptor.readOnly)
            let found = try AttachmentHasher().hash(
                descriptor: file.raw, expectedLength: want.attachment.byteCount)
            if found?.attachment != want.attachment {
                traces.append(Trace(step: .fetch, file: want.path))
            }
        }
        return traces
    }

    /// Files with a committed intent and without a committed delivery: those that still have
    /// their staged names, and those that have their names in the outbox.
    func published() async throws -> [Trace] {
        let open = try await store.read { snapshot in
            try snapshot.rows(IntentRecord.self).filter { intent in
                try snapshot.row(DeliveryRecord.self, intent.key)?.state != .delivered
            }
        }
        let outbox = try Folder(at: home.outbox)
        var traces: [Trace] = []
        for intent in open.map(\.intent) {
            let staged = intent.start.appending(intent.stagedName)
            let path = BytePath(".chute/staging").appending(staged)
            if try outbox.status(of: path).map(InodeIdentity.init) == intent.identity {
                traces.append(Trace(step: .publish, file: staged))
            } else if try outbox.status(of: intent.target).map(InodeIdentity.init)
                == intent.identity
            {
                traces.append(Trace(step: .record, file: staged))
            }
        }
        return traces
    }

    /// The files that somebody's receipt says are delivered, but for those of `known`.
    func deliveries(except known: Set<DocumentID>) async throws -> [Delivery] {
        try await store.read { snapshot in
            let rows = try snapshot.database.prepare(
                """
                SELECT d.collection, d.id, r.removed FROM receipts r JOIN documents d
                ON d.collection = r.collection AND d.id = r.document AND d.change = r.version
                WHERE r.state = 0
                """
            ).all { ($0.text(0), DocumentID(bytes: $0.bytes(1)), $0.bool(2)) }
            return try rows.compactMap { collection, id, isRemoved in
                guard let id, !known.contains(id) else { return nil }
                let file = try snapshot.document(id, in: collection)?.fields.flatMap(
                    FileDocument.init)
                return Delivery(
                    document: id, path: file?.joinedPath ?? "", isRemoved: isRemoved)
            }
        }
    }

    private var collection: String {
        get async throws {
            let folders = try await store.read { try $0.rows(FolderRecord.self) }
            guard let folder = folders.first else {
                throw NeverHappened(what: "a folder of \(home.name)")
            }
            return folder.collectionName
        }
    }
}

extension AttachmentID {
    /// The attachment that a name in `.chute/held` is of: `<blob name>-<inode>`.
    fileprivate init?(heldName: BytePath) {
        let parts = heldName.description.split(separator: "-")
        guard parts.count == 3,
            let digest = Hexadecimal.bytes(String(parts[0])).flatMap({
                Digest(bytes: $0)
            }), let byteCount = UInt64(parts[1])
        else { return nil }
        self.init(digest: digest, byteCount: byteCount)
    }
}
