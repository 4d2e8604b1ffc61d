import ChuteSystem
import Glibc

/// Making engines.
extension Chute {
    /// Opens the engine of `persistenceDirectory`, which is made where it does not exist (0700).
    ///
    /// - `identity` is how the devices of its space know each other. A directory keeps the one
    ///   that it was made with.
    /// - `network` is what it listens to and dials once it replicates; unless given, port 4040 or
    ///   the next free one: of every interface, or of loopback for a development identity.
    /// - `isMoved` says that a directory that was copied or moved is used here alone from now on.
    /// - `diagnostics` is told what a person may want to know; unless given, warnings go to
    ///   standard error, and with a development identity notices too.
    ///
    /// Throws, and changes nothing: `missingDirectory` where the folder that is to hold the
    /// directory does not exist, `notADirectory`, `notWritable` and `networkFileSystem` for a
    /// place that does not do, `heldElsewhere` where another engine has it, `wrongIdentity` where
    /// it was made with another one, `deviceKey` where its key was copied, `storeIsNewer`,
    /// `storeIsDamaged`, `notLocal` for a development identity with addresses beyond this link,
    /// and `invalid` for names and addresses that are none. Takes some milliseconds.
    public static func open(
        identity: Identity, persistenceDirectory: BytePath, network: Network? = nil,
        isMoved: Bool = false, diagnostics: Diagnostics = .standardError
    ) async throws -> Chute {
        let network = network ?? (identity.isDevelopment ? .thisHost() : .everywhere())
        try identity.check()
        _ = try network.checked(isLocalOnly: identity.isDevelopment)
        try checkParent(of: persistenceDirectory)
        return try await open(
            DirectoryLock(persistenceDirectory), identity: identity, isMoved: isMoved,
            network: network,
            diagnostics: diagnostics.isUnasked && identity.isDevelopment
                ? .standardErrorNotices : diagnostics)
    }

    /// Opens the engine of a directory whose lock is held already: the lock is the engine's from
    /// then on, which frees the directory when it ends.
    ///
    /// `mayChangeIdentity`: the directory goes over to `identity` where it was made with another
    /// one, and what others wrote in the space of before is forgotten. Throws as above.
    public static func open(
        _ lock: DirectoryLock, identity: Identity = .paired, mayChangeIdentity: Bool = false,
        isMoved: Bool = false, network: Network, diagnostics: Diagnostics = .none
    ) async throws -> Chute {
        try identity.check()
        let network = try network.checked(isLocalOnly: identity.isDevelopment)
        let record = IdentityRecord(identity)
        let path = lock.directory.appending(databaseName)
        let key = try DeviceKeyFile(in: lock.directory).loadOrMake()
        let sharedKey = identity.key
        let writer = try StoreWriter(
            path: path, key: key, sharedKey: sharedKey, diagnostics: diagnostics, lock: lock
        ) { database in
            if !mayChangeIdentity { try record.check(database, of: lock.directory) }
        }
        try await writer.checkKeyFile(in: lock.directory, isMoved: isMoved)
        try await writer.write { transaction in
            if try record.leavesSpace(of: transaction.database) { try transaction.leaveSpace() }
            try record.note(in: transaction)
            if let sharedKey { try transaction.enter(sharedKey) }
        }
        await writer.startIndexing()
        if case .development(let appName) = identity.kind {
            diagnostics.warning(
                "the app \"\(appName)\" uses a development identity, which has NO SECURITY: any "
                    + "program on this host or link that says the same name reads and writes all "
                    + "of it. Never ship this: use .sharedKey(appID:key:) or .paired")
        }
        return try await open(
            writer, key: key, path: path, network: network,
            isLocalOnly: identity.isDevelopment, diagnostics: diagnostics)
    }

    private static func open(
        _ writer: StoreWriter, key: DeviceKey, path: BytePath, network: Network,
        isLocalOnly: Bool, diagnostics: Diagnostics
    ) async throws -> Chute {
        let reader = try StoreReader(path: path, device: writer.device)
        let roots = Roots()
        let instance = SecretBytes.random(count: 8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        StaleTemporaryFiles.remove(diagnostics: diagnostics)
        let blobs = try await BlobFolder.open(
            in: path.parent, store: writer, reader: reader, roots: roots,
            diagnostics: diagnostics)
        let fetcher = Fetcher(
            store: writer, reader: reader, roots: roots, blobsRoot: blobs.root,
            relays: blobs.relays, diagnostics: diagnostics)
        let context = SessionContext(
            store: writer, reader: reader, tls: try TLSContext(key: key), instance: instance,
            roots: roots, fetcher: fetcher,
            attachments: AttachmentStore(
                blobs: blobs, store: writer, reader: reader, roots: roots, fetcher: fetcher,
                diagnostics: diagnostics),
            keptFiles: KeptFiles(reader: reader, roots: roots, diagnostics: diagnostics),
            presence: ChangeSignal(), local: LocalPeer(), diagnostics: diagnostics)
        return Chute(
            context: context,
            replicator: Replicator(
                context: context, network: network, isLocalOnly: isLocalOnly))
    }

    static let databaseName = "chute.db"

    /// Throws where the folder that is to hold the directory is none, or may not be entered. The
    /// directory itself is for its lock to look at.
    private static func checkParent(of directory: BytePath) throws {
        guard !directory.isEmpty, !directory.bytes.contains(0) else {
            throw ChuteError(
                .invalid, "a path has at least one byte and no NUL: name another directory")
        }
        let parent = directory.parent
        do throws(SystemError) {
            _ = try Folder(at: parent.isEmpty ? "." : parent)
        } catch {
            let code: ChuteError.Code =
                switch error {
                case _ where error.code == ENOTDIR: .notADirectory
                case _ where error.isNotFound: .missingDirectory
                case _ where error.isUnwritable: .notWritable
                default: .file
                }
            throw ChuteError(
                code,
                "\(directory) cannot be made, since \(parent) cannot be used: make that folder "
                    + "first, or name another directory", cause: error)
        }
    }
}
