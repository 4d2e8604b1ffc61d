import ChuteSystem

/// Where the bytes of an attachment lie: a file below a registered root.
public struct Location: Hashable, Sendable {
    /// The root, by the number that registering it gave.
    public let root: Int64
    /// The file below the root.
    public let path: BytePath
    /// What `fingerprint` the file had when its bytes were hashed. Opaque here: compared only.
    public let fingerprint: [UInt8]
    /// Nobody but the agent writes to the file.
    public let isOwned: Bool

    /// A file below a root.
    public init(root: Int64, path: BytePath, fingerprint: [UInt8], isOwned: Bool) {
        self.root = root
        self.path = path
        self.fingerprint = fingerprint
        self.isOwned = isOwned
    }
}

/// An attachment to be fetched into a staged file.
public struct Want: Hashable, Sendable {
    /// Names this want.
    public let id: Int64
    /// What to fetch.
    public let attachment: AttachmentID
    /// The root below which the staged file lies.
    public let root: Int64
    /// The staged file below the root.
    public let path: BytePath
    /// The device whose document asked for it: it likely has the bytes.
    public let source: DeviceID?
    /// How much of it.
    public let part: Part

    /// Whether both are fetched into one staged file.
    func hasFile(of other: Want?) -> Bool { root == other?.root && path == other?.path }

    /// How much of an attachment is fetched.
    public enum Part: Int, Sendable {
        /// All of it.
        case whole
        /// The first mebibyte, to be looked at: its outcome is `sampled`, or `completed` where
        /// that is all there is or the bytes lie on own disk.
        case sample
        /// All of it, where the staged file has a part already.
        case rest
    }
}

/// What is here of an attachment, for a peer that asks for it.
struct LocalHolding: Sendable {
    /// A document that counts, and that the peer may see, names it: only such bytes are handed
    /// out.
    let isServed: Bool
    let locations: [Location]
    /// The hashes of the pieces, where they are known.
    let layer: [UInt8]?
}

extension Snapshot {
    /// What is here of an attachment, for a peer that sees `scope`.
    func holding(
        of attachment: AttachmentID, in scope: PeerView.Scope = .space
    ) throws -> LocalHolding {
        LocalHolding(
            isServed: try isServed(attachment, in: scope), locations: try locations(of: attachment),
            layer: PieceTree.pieceCount(length: attachment.byteCount) > 1
                ? try layer(of: attachment) : nil)
    }

    /// The files that have the bytes of `attachment`, as far as is known.
    public func locations(of attachment: AttachmentID) throws -> [Location] {
        try database.prepare(
            """
            SELECT root, path, fingerprint, owned FROM locations WHERE digest = ? AND length = ?
            ORDER BY owned DESC
            """
        ).all(attachment.digest.bytes, attachment.byteCount) { row in
            Location(
                root: row.int64(0), path: row.path(1), fingerprint: row.bytes(2),
                isOwned: row.bool(3))
        }
    }

    /// The hashes of the pieces, 32 bytes each; `nil` where they are not known here.
    func layer(of attachment: AttachmentID) throws -> [UInt8]? {
        try database.prepare("SELECT layer FROM layers WHERE digest = ? AND length = ?")
            .first(attachment.digest.bytes, attachment.byteCount) { $0.bytes(0) }
    }

    /// Whether a document that counts names `attachment`, be it put away here: only such bytes are
    /// handed out.
    func isNamed(_ attachment: AttachmentID) throws -> Bool {
        try database.prepare(
            """
            SELECT 1 FROM tokens t JOIN documents d
            ON d.collection = t.collection AND d.id = t.document
            WHERE t.digest = ? AND t.length = ?
            AND (d.hidden = 2 OR (d.hidden = 0 AND d.body IS NOT NULL)) LIMIT 1
            """
        ).first(attachment.digest.bytes, attachment.byteCount) { _ in true } ?? false
    }

    /// All wants with an id above `id`, in their order.
    func wants(after id: Int64, limit: Int) throws -> [Want] {
        try wants(
            """
            SELECT id, digest, length, root, path, source, part FROM wants
            WHERE id > ? ORDER BY id LIMIT ?
            """, id, limit)
    }

    /// The wants whose staged files lie below a root.
    public func wants(inRoot root: Int64) throws -> [Want] {
        try wants(
            """
            SELECT id, digest, length, root, path, source, part FROM wants
            WHERE root = ? ORDER BY id LIMIT ?
            """, root, .max)
    }

    /// The bytes of all wants, by the root below which their staged files lie.
    public func wantedByteCounts() throws -> [Int64: UInt64] {
        let counts = try database.prepare("SELECT root, sum(length) FROM wants GROUP BY root")
            .all { ($0.int64(0), $0.uint64(1)) }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    private func wants(
        _ select: StaticString, _ value: Int64, _ limit: Int
    ) throws -> [Want] {
        try database.prepare(select).all(value, limit) { row in
            guard let digest = Digest(bytes: row.bytes(1)),
                let attachment = AttachmentID(digest: digest, byteCount: row.uint64(2)),
                let part = Want.Part(rawValue: row.int(6))
            else { throw WireError.malformed("a row of wants") }
            return Want(
                id: row.int64(0), attachment: attachment, root: row.int64(3), path: row.path(4),
                source: row.optionalBytes(5).flatMap(DeviceID.init(bytes:)), part: part)
        }
    }

    /// Which of these wants are no more.
    func missingWants(among ids: [Int64]) throws -> Set<Int64> {
        let select = try database.prepare("SELECT 1 FROM wants WHERE id = ?")
        return Set(try ids.filter { try select.first($0) { _ in true } == nil })
    }

    /// How many attachments wait to be fetched, and their bytes.
    public func wantTotals() throws -> (count: Int, bytes: UInt64) {
        try database.prepare("SELECT count(*), coalesce(sum(length), 0) FROM wants")
            .first { ($0.int(0), $0.uint64(1)) } ?? (0, 0)
    }
}

extension Snapshot {
    /// The bytes of all files of a root that are known.
    public func byteCount(inRoot root: Int64) throws -> UInt64 {
        try database.prepare("SELECT coalesce(sum(length), 0) FROM locations WHERE root = ?")
            .first(root) { $0.uint64(0) } ?? 0
    }
}

extension Transaction {
    /// Records that a file has the bytes of `attachment`. `layer` as `HashedFile` gave it, if
    /// the bytes were hashed for this.
    public func addLocation(
        _ location: Location, of attachment: AttachmentID, layer: [UInt8] = []
    ) throws {
        try database.prepare("INSERT OR REPLACE INTO locations VALUES (?, ?, ?, ?, ?, ?)").run(
            attachment.digest.bytes, attachment.byteCount, location.root, location.path.bytes,
            location.fingerprint, location.isOwned)
        try store(layer: layer, of: attachment)
        touched.insert(.locations)
    }

    func store(layer: [UInt8], of attachment: AttachmentID) throws {
        guard !layer.isEmpty else { return }
        try database.prepare("INSERT OR IGNORE INTO layers VALUES (?, ?, ?)")
            .run(attachment.digest.bytes, attachment.byteCount, layer)
    }

    /// Forgets what is known of a file while it had `fingerprint`: its name may be another file's
    /// by now. The file itself is left as it is.
    public func removeLocation(root: Int64, path: BytePath, fingerprint: [UInt8]) throws {
        try database.prepare(
            "DELETE FROM locations WHERE root = ? AND path = ? AND fingerprint = ?"
        ).run(root, path.bytes, fingerprint)
        touched.insert(.locations)
    }

    /// Forgets that anything is known of a file. The file itself is left as it is.
    public func removeLocation(root: Int64, path: BytePath) throws {
        try database.prepare("DELETE FROM locations WHERE root = ? AND path = ?")
            .run(root, path.bytes)
        touched.insert(.locations)
    }

    /// Asks for `attachment`: its bytes are fetched, checked and written to `path` below `root`.
    ///
    /// The outcome comes from `Chute.fetched()`, in this run or a later one.
    @discardableResult
    public func want(
        _ attachment: AttachmentID, root: Int64, path: BytePath, from source: DeviceID?,
        part: Want.Part = .whole
    ) throws -> Want {
        try database.prepare(
            """
            INSERT INTO wants (digest, length, root, path, source, part)
            VALUES (?, ?, ?, ?, ?, ?)
            """
        ).run(
            attachment.digest.bytes, attachment.byteCount, root, path.bytes,
            source?.digest.bytes, part.rawValue)
        touched.insert(.wants)
        return Want(
            id: database.lastInsertedRow, attachment: attachment, root: root, path: path,
            source: source, part: part)
    }

    /// Forgets a want that came to its end.
    public func finish(want id: Int64) throws {
        try database.prepare("DELETE FROM wants WHERE id = ?").run(id)
    }

    /// Takes back a want, fetched or not. The staged file is the caller's.
    public func unwant(_ id: Int64) throws {
        try database.prepare("DELETE FROM wants WHERE id = ?").run(id)
        touched.insert(.withdrawals)
    }

    /// Gives the folder with this mark its number; later calls give the same.
    public func registerRoot(mark: [UInt8], path: BytePath, role: String) throws -> Int64 {
        try database.prepare(
            """
            INSERT INTO roots (mark, path, role) VALUES (?1, ?2, ?3)
            ON CONFLICT (mark) DO UPDATE SET path = ?2, role = ?3
            """
        ).run(mark, path.bytes, role)
        let id = try database.prepare("SELECT id FROM roots WHERE mark = ?")
            .first(mark) { $0.int64(0) }
        guard let id else {
            throw ChuteError(.storeIsDamaged, "a root that was just registered is not there")
        }
        touched.insert(.locations)
        return id
    }
}
