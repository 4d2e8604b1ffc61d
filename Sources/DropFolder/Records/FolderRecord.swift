import ChuteKit
import ChuteSystem

/// An inbox or outbox that was set up once: how it is recognised, how far it was read.
struct FolderRecord: LocalRow, Hashable {
    static let collection = "folders"

    var kind: RootMark.Use.Kind
    var collectionName: String
    var path: BytePath
    var identity: RootIdentity
    /// The number that the store gave it.
    var root: Int64
    /// For an outbox: the documents up to here were looked at.
    var learned: Int64 = 0
    /// For an inbox: what lay there when `--existing skip` was said stays unshared.
    var skipsExisting = false
    /// For an inbox: how many files and bytes lay there at the first start.
    var existingCount: Int64 = 0
    var existingBytes: Int64 = 0

    var key: [UInt8] { Self.key(kind, path) }

    static func key(_ kind: RootMark.Use.Kind, _ path: BytePath) -> [UInt8] {
        Array(kind.rawValue.utf8) + [0] + path.bytes
    }

    init(
        kind: RootMark.Use.Kind, collection: String, path: BytePath, identity: RootIdentity,
        root: Int64
    ) {
        self.kind = kind
        collectionName = collection
        self.path = path
        self.identity = identity
        self.root = root
    }

    var fields: Fields {
        [
            "kind": .string(kind.rawValue), "collection": .string(collectionName),
            "path": .path(path), "identity": .string(identity.text), "root": .integer(root),
            "learned": .integer(learned), "existing": .bool(skipsExisting),
            "count": .integer(existingCount), "bytes": .integer(existingBytes),
        ]
    }

    init(fields: Fields) throws {
        kind = try fields.need("kind") { $0.string.flatMap(RootMark.Use.Kind.init(rawValue:)) }
        collectionName = try fields.string("collection")
        path = try fields.path("path")
        identity = try fields.need("identity") {
            $0.string.flatMap { RootIdentity(text: $0) }
        }
        root = try fields.integer("root")
        learned = fields["learned"]?.integer ?? 0
        skipsExisting = fields["existing"]?.bool ?? false
        existingCount = fields["count"]?.integer ?? 0
        existingBytes = fields["bytes"]?.integer ?? 0
    }
}

/// The folder name that a peer's files go to: bound at first sight, whatever it calls itself
/// later.
struct PeerFolderRecord: LocalRow, Hashable {
    static let collection = "peer-folders"

    var root: Int64
    var device: DeviceID
    var name: [UInt8]

    var key: [UInt8] { folderKey(root) + device.digest.bytes }
    static let isIndexed = true
    var indexes: [RowIndex] { [RowIndex("name", folderKey(root) + name)] }

    init(root: Int64, device: DeviceID, name: [UInt8]) {
        self.root = root
        self.device = device
        self.name = name
    }

    var fields: Fields {
        [
            "root": .integer(root), "device": .bytes(device.digest.bytes), "name": .bytes(name),
        ]
    }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        device = DeviceID(try fields.digest("device"))
        name = try fields.bytes("name")
    }
}
