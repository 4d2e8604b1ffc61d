import ChuteSystem

/// What a device says of itself, in `_devices`, written by itself alone.
public struct DeviceProfile: Hashable, Sendable {
    /// The name that its owner gave it.
    public var name: String
    /// Where it can be dialled, as the transports take it: `host:port`.
    public var addresses: [String]
    /// The collections that it takes.
    public var collections: [String]

    /// A profile.
    public init(name: String, addresses: [String], collections: [String]) {
        self.name = name
        self.addresses = addresses
        self.collections = collections
    }

    static let collection = "_devices"
    static let seed = Digest(hashing: Array("chute device 1".utf8))
    static let addressLimit = 64

    var fields: Fields {
        [
            "name": .string(name), "addresses": .array(addresses.map { .string($0) }),
            "collections": .array(collections.map { .string($0) }),
        ]
    }

    init(fields: Fields) {
        name = fields["name"]?.string ?? ""
        addresses = Array(
            (fields["addresses"]?.array ?? []).compactMap(\.string).prefix(Self.addressLimit))
        collections = (fields["collections"]?.array ?? []).compactMap(\.string)
    }
}

/// A member as this device knows it.
public struct Member: Hashable, Sendable {
    /// The device.
    public let id: DeviceID
    /// What it may do.
    public let role: Role
    /// What it says of itself; `nil` before that came.
    public let profile: DeviceProfile?
    /// The last connection; `nil` where there was none.
    public let presence: Presence?
    /// As `Snapshot.lastHeard(of:)`.
    public let lastHeard: UInt64?
    /// Whether this device talks to it: who only sends and who is no owner do not.
    public let isTalkedTo: Bool
    /// Whether the documents of this device come to it.
    public let isRecipient: Bool

    /// The last or present connection to a device.
    public struct Presence: Hashable, Sendable {
        /// Connected now, if an engine runs.
        public let isConnected: Bool
        /// By which transport.
        public let transport: String
        /// At which address.
        public let address: String
        /// When it came or went, in seconds since 1970.
        public let seen: UInt64
    }
}

extension Snapshot {
    /// What a device says of itself.
    public func profile(of device: DeviceID) throws -> DeviceProfile? {
        let id = Change.ownedDocument(
            of: device, in: DeviceProfile.collection, seed: DeviceProfile.seed)
        return try document(id, in: DeviceProfile.collection)?.fields.map(DeviceProfile.init)
    }

    /// The last or present connection to a device.
    public func presence(of device: DeviceID) throws -> Member.Presence? {
        try database.prepare(
            "SELECT connected, transport, address, seen_seconds FROM presence WHERE device = ?"
        ).first(device.digest.bytes) {
            Member.Presence(
                isConnected: $0.bool(0), transport: $0.text(1), address: $0.text(2),
                seen: $0.uint64(3))
        }
    }
}

extension Snapshot {
    /// When a device was last connected, or wrote the newest of its changes that came here some
    /// way, by its own clock; in seconds since 1970, `nil` where nothing of it ever came.
    public func lastHeard(of device: DeviceID) throws -> UInt64? {
        let body = try database.prepare(
            """
            SELECT body FROM changes WHERE author = ? AND hash IS NOT NULL
            ORDER BY counter DESC LIMIT 1
            """
        ).first(device.digest.bytes) { $0.bytes(0) }
        let written = try body.map { try Change(bytes: $0).stamp.milliseconds / 1000 }
        return [try presence(of: device)?.seen, written].compactMap(\.self).max()
    }
}

extension Transaction {
    /// Publishes what this device says of itself, if that is new.
    public func publish(_ profile: DeviceProfile) throws {
        guard try self.profile(of: device) != profile else { return }
        try write(
            seed: DeviceProfile.seed, in: DeviceProfile.collection, fields: profile.fields)
    }

    func notePresence(
        _ peer: DeviceID, isConnected: Bool, transport: String, address: String
    ) throws {
        try database.prepare("INSERT OR REPLACE INTO presence VALUES (?, ?, ?, ?, ?)")
            .run(peer.digest.bytes, isConnected, transport, address, now / 1000)
        touched.insert(.members)
    }
}
