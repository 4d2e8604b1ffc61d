import ChuteSystem

/// The file `device.key` (0600): the private key that makes this device what it is.
public struct DeviceKeyFile: Sendable {
    /// Where the file is.
    public let path: BytePath
    private let directory: BytePath
    private static let sizeLimit = 4096

    /// The key file of an engine's directory.
    public init(in directory: BytePath) {
        self.directory = directory
        path = directory.appending("device.key")
    }

    /// The id of the device; `nil` where there is no key yet. Throws `deviceKey` for a file
    /// that is none.
    public func deviceID() throws -> DeviceID? {
        try load().map { DeviceID(publicKey: $0.spki) }
    }

    /// Makes a key where there is none; durable when it returns.
    public func makeIfMissing() throws -> DeviceID { DeviceID(publicKey: try loadOrMake().spki) }

    /// Puts a new key in the place of the old one, and the database that belongs to the old one
    /// aside: for a copied home. Nobody may run an engine on it meanwhile.
    public func replace() throws -> DeviceID {
        do throws(SystemError) {
            let folder = try Folder(at: directory)
            for name in ["device.key", "chute.db", "chute.db-wal", "chute.db-shm"] {
                guard try folder.status(of: BytePath(name)) != nil else { continue }
                try folder.rename(BytePath(name), to: BytePath("\(name).replaced"))
            }
            try folder.sync()
        } catch {
            throw ChuteError(.file, "the old key cannot be put aside", cause: error)
        }
        return try makeIfMissing()
    }

    func load() throws -> DeviceKey? {
        let bytes: [UInt8]
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, FileDescriptor.readOnly)
            bytes = try file.read(count: Self.sizeLimit, at: 0)
        } catch {
            if error.isNotFound { return nil }
            throw ChuteError(.deviceKey, "the device key cannot be read", cause: error)
        }
        do { return try DeviceKey(pem: bytes) } catch {
            throw ChuteError(
                .deviceKey,
                "\(path) holds no device key: put the right file back, or move it away and run "
                    + "`chute init --new-device`", cause: error)
        }
    }

    func loadOrMake() throws -> DeviceKey {
        if let key = try load() { return key }
        let key = try DeviceKey.generate()
        do throws(SystemError) {
            try Folder.make(directory, mode: 0o700)
            let folder = try Folder(at: directory)
            let temporary: BytePath = "device.key.new"
            try folder.remove(temporary)
            let file = try folder.open(temporary, FileDescriptor.readWriteCreate, mode: 0o600)
            let bytes: [UInt8]
            do { bytes = try key.pem() } catch {
                throw SystemError(code: 22, call: "PEM_write", path: path)  // EINVAL
            }
            try file.write(bytes, at: 0)
            try file.sync()
            try folder.renameExclusively(temporary, to: "device.key", in: folder)
            try folder.sync()
        } catch {
            throw ChuteError(.file, "the device key cannot be written", cause: error)
        }
        return key
    }

    /// Inode and birth time: a copied home has others.
    func identity() throws -> [UInt8] {
        let status = try FileStatus.of(path)
        return CBOR.array([.unsigned(status.inode), .int(status.birth)]).encoded()
    }
}

extension StoreWriter {
    /// Compares the key file with the one that this store was made with.
    func checkKeyFile(in directory: BytePath, isMoved: Bool) throws {
        let identity = try DeviceKeyFile(in: directory).identity()
        try write { transaction in
            let known = try transaction.database.prepare(
                "SELECT value FROM meta WHERE key = 'key_file'"
            ).first { $0.bytes(0) }
            guard known == nil || known == identity || isMoved else {
                throw ChuteError(
                    .deviceKey,
                    "this home is a copy, or was moved: `chute run --moved` if the old one is "
                        + "gone for good, `chute init --new-device` if both are to be used")
            }
            try transaction.database.prepare("INSERT OR REPLACE INTO meta VALUES ('key_file', ?)")
                .run(identity)
        }
    }

    /// Refuses to join from within a space with others, before anything is sent.
    func checkCanJoin(_ ticket: Ticket) throws {
        guard space != ticket.space, sharedKey != nil || membership.members.count > 1 else {
            return
        }
        throw ChuteError(
            .alreadyInSpace,
            "this device is in a space with others: `chute leave` first (keeps all files)")
    }
}

extension Transaction {
    /// Makes this device a member of a shared-key space.
    func enter(_ key: SharedKey) throws {
        if state.space != key.space { try adopt(key.space) }
        guard !state.membership.isMember(device) else { return }
        try state(.sharedKey(mac: key.memberProof(of: device)))
    }
}
