import ChuteKit
import ChuteSystem

/// A dropped file that `after_ingest` is taking away: what recovery has to know after a crash.
///
/// Written before the file is set aside in `<inbox>/.chute/taken/`, removed when it has left or is
/// back under its name.
struct TakeRecord: LocalRow, Hashable {
    static let collection = "takes"

    enum Stage: String {
        /// It is about to be set aside, or lies there and was not looked at yet.
        case aside
        /// It is what was shared, and its row says that it has left: it goes.
        case leaving
    }

    var root: Int64
    /// Its name in the inbox.
    var path: BytePath
    var document: DocumentID
    /// The version that others have.
    var version: Digest
    var attachment: AttachmentID
    /// Of the file under its name.
    var fingerprint: FileFingerprint
    /// What holds the bytes for those who have no receipt yet; `nil` where all have.
    var held: BytePath?
    var stage = Stage.aside
    /// Its copy on the other file system that `after_ingest_folder` is on, once there is one.
    var copy: MovedCopy?

    var key: [UInt8] { Self.key(root: root, document) }

    static func key(root: Int64, _ document: DocumentID) -> [UInt8] {
        folderKey(root) + document.bytes
    }

    /// Its name in `.chute/taken/`: begins with the document's, ends with its own.
    var name: BytePath { TakenFolder.name(of: path, document: document.bytes) }

    init(_ row: InboxRecord, version: Digest, held: BytePath?) {
        root = row.root
        path = row.path
        document = row.document
        self.version = version
        attachment = row.attachment
        fingerprint = row.fingerprint
        self.held = held
    }

    var fields: Fields {
        [
            "root": .integer(root), "path": .path(path), "document": .document(document),
            "change": .bytes(version.bytes), "file": .attachment(attachment),
            "print": .bytes(fingerprint.encoded), "held": .optional(held.map { .path($0) }),
            "stage": .string(stage.rawValue),
            "target": .optional(copy.map { .path($0.path) }),
            "inode": .optional(copy.map { .integer(Int64(bitPattern: $0.identity.inode)) }),
            "birth": .optional(copy.map { .integer($0.identity.birth) }),
        ]
    }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        path = try fields.path("path")
        document = try fields.document("document")
        version = try fields.digest("change")
        attachment = try fields.attachment("file")
        fingerprint = try fields.need("print") {
            $0.bytes.flatMap { FileFingerprint(encoded: $0) }
        }
        held = fields["held"]?.bytes.map { BytePath(bytes: $0) }
        stage = try fields.need("stage") { $0.string.flatMap(Stage.init(rawValue:)) }
        if let target = fields["target"]?.bytes, let inode = fields["inode"]?.integer,
            let birth = fields["birth"]?.integer
        {
            copy = MovedCopy(
                path: BytePath(bytes: target),
                identity: InodeIdentity(inode: UInt64(bitPattern: inode), birth: birth))
        }
    }
}

/// A folder that dropped files are moved to, and how it is recognised: it is made once, and not
/// made again where it is not mounted. One that its user made anew at the same site is taken.
struct MoveTargetRecord: LocalRow, Hashable {
    static let collection = "after-ingest-folders"

    var path: BytePath
    var identity: RootIdentity
    /// Where it was when it was last there; `nil` where that could not be told.
    var site: RootSite?

    var key: [UInt8] { path.bytes }

    init(path: BytePath, identity: RootIdentity, site: RootSite?) {
        self.path = path
        self.identity = identity
        self.site = site
    }

    var fields: Fields {
        [
            "path": .path(path), "identity": .string(identity.text),
            "fsid": .optional(site.map { .integer(Int64(bitPattern: $0.fileSystem)) }),
            "mounts": .optional(site.map { .integer(Int64($0.mounts)) }),
        ]
    }

    init(fields: Fields) throws {
        path = try fields.path("path")
        identity = try fields.need("identity") { $0.string.flatMap { RootIdentity(text: $0) } }
        if let id = fields["fsid"]?.integer, let mounts = fields["mounts"]?.integer {
            site = RootSite(
                fileSystem: UInt64(bitPattern: id), mounts: Int(clamping: mounts))
        }
    }
}
