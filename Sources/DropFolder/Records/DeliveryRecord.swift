import ChuteKit
import ChuteSystem

/// What became of one file document of somebody else in one outbox.
struct DeliveryRecord: LocalRow, Hashable {
    static let collection = "deliveries"

    enum State: String {
        /// Its bytes are on their way.
        case fetching
        /// It cannot be taken right now: no space, over quota, not mounted.
        case waiting
        /// It has a name in the outbox.
        case delivered
        /// Not taken; there is a receipt that says why.
        case refused
        /// It was delivered and the user moved or removed it.
        case removed
        /// Its origin took it back before it was delivered.
        case retracted
    }

    var root: Int64
    var document: DocumentID
    /// The version that `state` is about, by number and by the hash of its change.
    var version: UInt64
    var versionID: Digest
    var attachment: AttachmentID
    var state: State
    /// Why it waits or was refused: a reason code, and a sentence.
    var reason = ""
    var detail = ""
    var want: Int64?
    /// Where the bytes are staged: the start's folder, then the name.
    var staged: BytePath?
    /// The copy in the outbox, of this version or of an earlier one.
    var copy: DeliveredCopy?
    /// The copy was the user's own before.
    var isUsersOwn = false

    /// Names it in the staging folder.
    var key: [UInt8] { folderKey(root) + document.bytes }

    static let isIndexed = true
    var indexes: [RowIndex] {
        var indexes = [RowIndex("state", Self.stateIndex(root: root, state))]
        if let copy {
            indexes.append(RowIndex("inode", Self.inodeIndex(copy.fingerprint.identity.inode)))
        }
        return indexes
    }

    /// Before the keys of an outbox.
    static func start(root: Int64) -> [UInt8] { folderKey(root) }

    static func key(root: Int64, _ document: DocumentID) -> [UInt8] {
        folderKey(root) + document.bytes
    }

    static func inodeIndex(_ inode: UInt64) -> [UInt8] { withUnsafeBytes(of: inode, Array.init) }

    static func stateIndex(root: Int64, _ state: State) -> [UInt8] {
        folderKey(root) + Array(state.rawValue.utf8)
    }

    /// Whether `print` is that of the copy as this device published it.
    func isOurs(_ print: FileFingerprint) -> Bool {
        guard let copy, !isUsersOwn else { return false }
        let identity = InodeIdentity(inode: print.inode, birth: print.birth)
        return copy.fingerprint.identity == identity && copy.fingerprint.size == print.size
            && copy.fingerprint.modified == print.modified
    }

    init(root: Int64, document: OwnedDocument, file: FileDocument, state: State) {
        self.root = root
        self.document = document.id
        version = document.version
        versionID = document.versionID
        attachment = file.attachment
        self.state = state
    }

    var fields: Fields {
        [
            "root": .integer(root), "document": .document(document),
            "version": .integer(Int64(version)), "change": .bytes(versionID.bytes),
            "file": .attachment(attachment), "state": .string(state.rawValue),
            "reason": .string(reason), "detail": .string(detail),
            "want": .optional(want.map { .integer($0) }),
            "staged": .optional(staged.map { .path($0) }),
            "copy": .optional(copy.map { .path($0.path) }),
            "print": .optional(copy.map { .bytes($0.fingerprint.encoded) }),
            "own": .bool(isUsersOwn),
        ]
    }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        document = try fields.document("document")
        version = try fields.need("version") { $0.integer.flatMap { UInt64(exactly: $0) } }
        versionID = try fields.digest("change")
        attachment = try fields.attachment("file")
        state = try fields.need("state") { $0.string.flatMap(State.init(rawValue:)) }
        reason = try fields.string("reason")
        detail = try fields.string("detail")
        want = fields["want"]?.integer
        staged = fields["staged"]?.bytes.map { BytePath(bytes: $0) }
        if let path = fields["copy"]?.bytes,
            let print = fields["print"]?.bytes.flatMap({ CopyFingerprint(encoded: $0) })
        {
            copy = DeliveredCopy(path: BytePath(bytes: path), fingerprint: print)
        }
        isUsersOwn = fields["own"]?.bool ?? false
    }
}

extension Snapshot {
    /// The row that a want was made for; `nil` where it waits for another one by now.
    func delivery(of want: Want) throws -> DeliveryRecord? {
        guard let document = StagedName.documentPrefix(of: want.path.lastComponent) else {
            return nil
        }
        let found = try rows(
            DeliveryRecord.self, after: folderKey(want.root) + document, limit: 1)
        return found.first { $0.want == want.id }
    }
}

extension CopyFingerprint {
    /// As `FileFingerprint.encoded`: a published file is a location too.
    var encoded: [UInt8] {
        FileFingerprint(
            inode: identity.inode, birth: identity.birth, size: size, modified: modified,
            changed: changed
        ).encoded
    }

    init?(encoded: [UInt8]) {
        guard let print = FileFingerprint(encoded: encoded) else { return nil }
        self.init(
            identity: InodeIdentity(inode: print.inode, birth: print.birth), size: print.size,
            modified: print.modified, changed: print.changed)
    }
}

extension Transaction {
    /// Forgets where a delivered copy lies; not what has its name by now.
    func removeLocation(of copy: DeliveredCopy, root: Int64) throws {
        try removeLocation(root: root, path: copy.path, fingerprint: copy.fingerprint.encoded)
    }
}
