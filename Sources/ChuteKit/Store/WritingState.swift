import ChuteSystem

/// What a store keeps in memory between its transactions. A value: a transaction works on a
/// copy, which takes the place of the original with the commit.
struct WritingState: Sendable {
    /// The space that this device is in; `SpaceID.alone` for none.
    var space: SpaceID
    /// The key of a shared-key space.
    var sharedKey: SharedKey?
    var membership = Membership()
    /// The greatest counter that this device has used, or that a peer knows of it.
    var counter: UInt64
    var clock: HybridClock
    /// The number of the last commit.
    var commit: UInt64
    var ids = GeneratedID()
    /// What this device wants of others.
    var subscription: Subscription
    /// How often all streams from peers had to begin anew since the store was opened.
    var streamRestarts: UInt64 = 0
    /// The declared indexes, by their collections.
    var indexes: [String: [FieldIndex]] = [:]

    /// Whether anything of `author` up to `counter` counts here: everything of this device's
    /// own, and what the membership says of others.
    func counts(author: DeviceID, counter: UInt64, own: DeviceID) -> Bool {
        author == own || membership.counts(author: author, counter: counter)
    }

    static func load(from database: Connection, sharedKey: SharedKey?) throws -> WritingState {
        func meta(_ key: String) throws -> [UInt8]? {
            try database.prepare("SELECT value FROM meta WHERE key = ?").first(key) { $0.bytes(0) }
        }
        func number(_ key: String) throws -> UInt64 {
            try meta(key).flatMap { try? CBOR.decode($0).uint } ?? 0
        }
        let space = try meta("space").flatMap(SpaceID.init(bytes:)) ?? .alone
        return WritingState(
            space: space, sharedKey: sharedKey, counter: try number("counter"),
            clock: HybridClock(last: Stamp(rawValue: try number("stamp"))),
            commit: try number("commit"),
            subscription: try Subscription(encoded: meta("subscription")),
            indexes: try FieldIndex.all(in: database))
    }

    func save(in database: Connection) throws {
        let write = try database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)")
        try write.run("space", space.digest.bytes)
        if sharedKey != nil {
            try write.run("shared_members", [1] as [UInt8])
        } else {
            try database.execute("DELETE FROM meta WHERE key = 'shared_members'")
        }
        try write.run("counter", CBOR.unsigned(counter).encoded())
        try write.run("commit", CBOR.unsigned(commit).encoded())
        try write.run("stamp", CBOR.unsigned(clock.last.rawValue).encoded())
    }
}
