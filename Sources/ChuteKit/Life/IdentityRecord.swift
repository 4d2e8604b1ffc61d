import ChuteSystem

/// What a directory remembers of the identity that it was made with: never a key.
///
/// In `meta` under `identity`: the CBOR of `[kind]`, or of `[kind, space]` where a key makes the
/// space.
struct IdentityRecord: Hashable, Sendable {
    let kind: String
    /// The space of a key.
    let space: SpaceID?

    static let paired = IdentityRecord(kind: "paired", space: nil)
    private static let sharedKeyKind = "shared-key"

    private init(kind: String, space: SpaceID?) {
        self.kind = kind
        self.space = space
    }

    init(_ identity: Chute.Identity) {
        let kind =
            switch identity.kind {
            case .paired: Self.paired.kind
            case .sharedKey: Self.sharedKeyKind
            case .appKey: "app-key"
            case .development: "development"
            }
        self.init(kind: kind, space: identity.key?.space)
    }

    private var encoded: [UInt8] {
        CBOR.array([.text(kind)] + (space.map { [.bytes($0.digest.bytes)] } ?? [])).encoded()
    }

    private static func meta(_ key: String, _ database: Connection) throws -> [UInt8]? {
        try database.prepare("SELECT value FROM meta WHERE key = ?").first(key) { $0.bytes(0) }
    }

    /// What a database was made with; `nil` where it has not been used with any identity yet.
    /// Older ones do not say it, but their space does.
    private static func read(from database: Connection) throws -> IdentityRecord? {
        if let bytes = try meta("identity", database) {
            let parts = try CBOR.decode(bytes).arrayValue ?? []
            guard let kind = parts.first?.textValue else {
                throw WireError.malformed("the identity of the store")
            }
            let space = parts.dropFirst().first?.bytesValue.flatMap(SpaceID.init(bytes:))
            return IdentityRecord(kind: kind, space: space)
        }
        let space = try meta("space", database).flatMap(SpaceID.init(bytes:)) ?? .alone
        if try meta("shared_members", database) != nil {
            return IdentityRecord(kind: sharedKeyKind, space: space)
        }
        return space == .alone ? nil : .paired
    }

    /// Throws `wrongIdentity` where the database was made with another identity. Reads only.
    func check(_ database: Connection, of directory: BytePath) throws {
        let version = try database.prepare("PRAGMA user_version").first { $0.int(0) } ?? 0
        guard version > 0, let known = try Self.read(from: database), known != self else { return }
        throw ChuteError(
            .wrongIdentity,
            "\(directory) was made with another identity (\(known.words)) than it is opened with "
                + "(\(words)); nothing was changed. Open it with that one, or give this one a "
                + "directory of its own")
    }

    /// Whether a database whose space was that of a key goes over to devices that admit each other.
    func leavesSpace(of database: Connection) throws -> Bool {
        try space == nil && Self.read(from: database)?.space != nil
    }

    private var words: String { space.map { "\(kind), space \($0)" } ?? kind }

    /// Remembers the identity, if that is news.
    func note(in transaction: Transaction) throws {
        guard try Self.meta("identity", transaction.database) != encoded else { return }
        try transaction.database.prepare("INSERT OR REPLACE INTO meta VALUES ('identity', ?)")
            .run(encoded)
    }
}
