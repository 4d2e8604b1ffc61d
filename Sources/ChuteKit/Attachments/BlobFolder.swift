import ChuteSystem
import Glibc

/// The engine's own files: attachments that were taken in or fetched, one each, `<id>-<len>`.
///
/// Bytes appear here by write, sync, publish, record; they go by record, then unlink. Nothing is
/// ever touched in another root.
///
/// ## Concurrency
/// An actor on a queue of its own, which copies, hashes and syncs. What is published, collected
/// or set aside is so under a lock for that one attachment: each of these waits for the store in
/// the middle.
actor BlobFolder {
    private let executor = QueueExecutor(label: "chute.blobs")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The folder below the engine's directory.
    static let name: BytePath = "blobs"
    /// Where files lie that are being written; below the folder.
    static let staging: BytePath = "staging"
    /// Where verification puts what is not what its name says; below the folder.
    static let damaged: BytePath = "damaged"
    static let role = "blobs"

    let store: StoreWriter
    let reader: StoreReader
    let diagnostics: Diagnostics
    let folder: Folder
    nonisolated let path: BytePath
    /// The number of this folder among the roots.
    nonisolated let root: Int64
    nonisolated let uses = BlobUses()
    /// What is here for other devices alone.
    nonisolated let relays: RelayTable
    let hasher = PieceTree.FileHasher()

    /// What is being taken in, by a number that its maker has.
    var incoming: [UInt64: IncomingBlob] = [:]
    private var nextNumber: UInt64 = 0
    private var locked: [AttachmentID: [CheckedContinuation<Void, Never>]] = [:]
    /// The most bytes that all blobs together may have; `nil` for what the disk has.
    private(set) var byteLimit: UInt64?

    /// Opens or makes the folder below `directory`, whose lock the caller holds, and makes good
    /// what an earlier run left halfway.
    static func open(
        in directory: BytePath, store: StoreWriter, reader: StoreReader, roots: Roots,
        relays: RelayTable = RelayTable(), diagnostics: Diagnostics
    ) async throws -> BlobFolder {
        let path = directory.appending(name)
        let mark = try describing("the folder \(path) cannot be used") { () throws(SystemError) in
            try prepare(path)
        }
        let known = try await reader.read { try $0.root(mark: mark, path: path, role: role) }
        let root: Int64
        if let known {
            root = known
        } else {
            root = try await store.write { transaction in
                let root = try transaction.registerRoot(mark: mark, path: path, role: role)
                try transaction.forgetBlobRoots(except: root, role: role)
                return root
            }
        }
        roots.attach(root, path: path, mark: mark, isKept: false)
        let folder = try describing("the folder \(path) cannot be used") {
            () throws(SystemError) in try Folder(at: path)
        }
        let blobs = BlobFolder(
            store: store, reader: reader, relays: relays, diagnostics: diagnostics, folder: folder,
            path: path, root: root)
        try await blobs.reconcile()
        try await blobs.loadRelays()
        return blobs
    }

    private init(
        store: StoreWriter, reader: StoreReader, relays: RelayTable, diagnostics: Diagnostics,
        folder: consuming Folder, path: BytePath, root: Int64
    ) {
        self.relays = relays
        self.store = store
        self.reader = reader
        self.diagnostics = diagnostics
        self.folder = folder
        self.path = path
        self.root = root
    }

    /// Makes what is missing of the folder; its mark.
    private static func prepare(_ path: BytePath) throws(SystemError) -> [UInt8] {
        try Folder.make(path, mode: 0o700)
        let folder = try Folder(at: path)
        for inner in [staging, damaged, Roots.markPath.parent] {
            try folder.makeFolder(inner, mode: 0o700)
        }
        let file = try folder.open(
            Roots.markPath, FileDescriptor.readWriteCreate, mode: 0o600)
        let found = try file.read(count: markByteCount, at: 0)
        if found.count == markByteCount { return found }
        let mark = Array(Hexadecimal.text(SecretBytes.random(count: markByteCount / 2)).utf8)
        try file.write(mark, at: 0)
        try file.sync()
        try folder.folder(at: Roots.markPath.parent).sync()
        try folder.sync()
        return mark
    }

    private static let markByteCount = 32

    func limit(byteCount: UInt64?) { byteLimit = byteCount }

    /// Throws `overQuota` where `byteCount` more bytes are more than the engine may keep.
    func checkRoom(for byteCount: UInt64) async throws {
        guard let byteLimit else { return }
        let root = root
        let all = try await reader.read { snapshot in
            try snapshot.byteCount(inRoot: root) + snapshot.wantedByteCounts()[root, default: 0]
        }
        // What is here for others has a limit of its own.
        let kept = all - min(all, relays.byteCount)
        let coming = incoming.values.reduce(0) { $0 + $1.byteCount }
        guard kept + coming + byteCount <= byteLimit else {
            throw ChuteError(
                .overQuota,
                "\(byteCount) more bytes of attachments: with \(kept + coming) that are kept "
                    + "or on their way, more than the \(byteLimit) that this engine may keep",
                isTransient: true)
        }
    }

    func newNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }

    /// Runs `body` while no other call of this has the same attachment.
    func exclusively<Result: Sendable>(
        _ attachment: AttachmentID, _ body: () async throws -> Result
    ) async throws -> Result {
        await lock(attachment)
        defer { unlock(attachment) }
        return try await body()
    }

    func lock(_ attachment: AttachmentID) async {
        guard locked[attachment] != nil else { return locked[attachment] = [] }
        await withCheckedContinuation { locked[attachment]?.append($0) }
    }

    func unlock(_ attachment: AttachmentID) {
        guard let waiting = locked[attachment], let next = waiting.first else {
            return locked[attachment] = nil
        }
        locked[attachment]?.removeFirst()
        next.resume()
    }
}
