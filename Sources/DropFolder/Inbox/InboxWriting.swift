import ChuteKit
import ChuteSystem

/// Decides about one file within a transaction and writes what follows.
struct InboxWriting {
    let transaction: Transaction
    let root: Int64
    let collection: String
    /// `nil` while it is not there.
    let inbox: InboxRoot?

    /// The row that has a name so far.
    func row(at path: BytePath) throws -> InboxRecord? {
        try transaction.row(InboxRecord.self, folderKey(root, path))
    }

    /// Asks `InboxDecision` with what the rows know; `here` is the row of the file's name.
    func decide(
        _ file: IngestedFile, at here: InboxRecord?, history: NameHistory,
        emptyNames: Set<BytePath>, vanished: [InboxRecord], newNames: Int,
        now: Duration
    ) throws -> InboxDecision {
        let sameInode = try transaction.rows(
            InboxRecord.self, where: "inode",
            is: InboxRecord.inodeIndex(root: root, file.fingerprint), limit: 64)
        let others = try sameInode.compactMap { record -> InboxDecision.OtherName? in
            guard record.path != file.path else { return nil }
            let state: InboxDecision.OtherName.State
            if record.isTaken {
                // One that was taken away and dropped again is another document, whatever its name.
                guard try way(of: record, file) == .back else { return nil }
                state = .absent(since: nil)
            } else if let since = history.absence(of: record.path) {
                state = .absent(since: since)
            } else if !record.wasSeenAbsent, emptyNames.contains(record.path) {
                state = .absent(since: file.readAt)
            } else {
                state = record.wasSeenAbsent ? .absent(since: nil) : .occupied
            }
            return InboxDecision.OtherName(row: record.row, state: state)
        }
        return InboxDecision.of(
            file.observation(history.continuity(of: file.path)),
            knowing: InboxDecision.Knowledge(
                here: here?.row, way: try here.map { try way(of: $0, file) } ?? .none,
                sameFile: others, vanishedWithContent: vanished.map(\.row),
                newNamesWithContent: newNames),
            now: now)
    }

    /// What `after_ingest` does with a file that was read, of which `record` tells.
    ///
    /// The look at the name is within the transaction: what the taker does to the name comes before
    /// or after what it writes of it.
    private func way(
        of record: InboxRecord, _ file: IngestedFile
    ) throws -> InboxDecision.Way {
        let key = TakeRecord.key(root: root, record.document)
        let take = try transaction.row(TakeRecord.self, key)
        guard record.isTaken || take != nil else { return .none }
        guard (take?.fingerprint ?? record.fingerprint).isOfSameFile(as: file.fingerprint) else {
            return .none
        }
        guard inbox?.has(file.fingerprint, at: file.path) ?? false else { return .left }
        return take == nil ? .none : .back
    }

    /// Writes what was decided; the held files that this name needs no more.
    func write(
        _ file: IngestedFile, _ decision: InboxDecision, over here: InboxRecord?
    ) throws -> [BytePath] {
        var dropped: [BytePath] = []
        var record: InboxRecord
        switch decision {
        case .unchanged:
            guard var known = here else { return [] }
            known.fingerprint = file.fingerprint
            record = known
        case .newVersion:
            guard var known = here else { return [] }
            try transaction.put(
                seed: known.seed, in: collection, fields: file.document.fields)
            known.attachment = file.attachment
            known.fingerprint = file.fingerprint
            known.note = file.note
            record = known
        case .rename(let from, _, _):
            let oldKey = folderKey(root, from)
            guard var known = try transaction.row(InboxRecord.self, oldKey) else { return [] }
            try transaction.put(
                seed: known.seed, in: collection, fields: file.document.fields)
            try transaction.remove(InboxRecord.self, oldKey)
            try transaction.removeLocation(root: root, path: from)
            known.path = file.path
            known.attachment = file.attachment
            known.fingerprint = file.fingerprint
            known.note = file.note
            record = known
        case .gone: return file.held.map { [$0] } ?? []
        case .newDocument, .withheld, .wait: record = try newDocument(file, at: here)
        }
        if let old = record.held, old != file.held { dropped.append(old) }
        record.held = file.held
        (record.wasSeenAbsent, record.isTaken) = (false, false)
        try transaction.put(record, over: here)
        try transaction.addLocation(
            file.location(root: root), of: file.attachment, layer: file.layer)
        try transaction.remove(SkipRecord.self, folderKey(root, file.path))
        return dropped
    }

    /// Those of `dropped` that no name needs any more; they are no locations from now on.
    ///
    /// One held file serves every name of its inode: a second link, or the name that the file had
    /// before. `undecided` are held for names that have no row yet. Ask once all rows are written.
    func unneeded(
        among dropped: [BytePath], undecided: Set<BytePath> = []
    ) throws -> [BytePath] {
        var gone: [BytePath] = []
        for held in Set(dropped) where !undecided.contains(held) {
            let key = folderKey(root, held)
            guard
                try transaction.rows(InboxRecord.self, where: "hold", is: key, limit: 1).isEmpty,
                try transaction.row(OrphanRecord.self, key) == nil
            else { continue }
            try transaction.removeLocation(root: root, path: held)
            gone.append(held)
        }
        return gone
    }

    /// A document of this path and content that no row names is the one that an earlier run, or
    /// the store before a restore, made; otherwise it is a new one. `old` is the row that has the
    /// name so far.
    private func newDocument(
        _ file: IngestedFile, at old: InboxRecord?
    ) throws -> InboxRecord {
        var incarnation: Int64 = 0
        while true {
            let seed = FileDocument.seed(
                path: file.path, first: file.attachment, incarnation: incarnation)
            let id = transaction.ownDocumentID(seed: seed, in: collection)
            let known = try transaction.document(id, in: collection)
            let isFree =
                try known == nil
                || (known?.fields.flatMap(FileDocument.init)?.attachment == file.attachment
                    && transaction.rows(
                        InboxRecord.self, where: "document", is: id.bytes, limit: 1
                    ).isEmpty)
            guard isFree else {
                incarnation += 1
                continue
            }
            if known == nil {
                try transaction.put(seed: seed, in: collection, fields: file.document.fields)
            }
            if let old, let held = old.held, held != file.held {
                // The document before keeps its bytes until its peers have them.
                try transaction.put(
                    OrphanRecord(root: root, held: held, document: old.document))
            }
            return InboxRecord(
                root: root, path: file.path, document: id, seed: seed,
                attachment: file.attachment, fingerprint: file.fingerprint, note: file.note)
        }
    }
}

extension InboxRoot {
    /// Whether a name leads to a file that was seen before; `false` where it cannot be looked at.
    func has(_ print: FileFingerprint, at path: BytePath) -> Bool {
        guard let status = try? folder.status(of: path) else { return false }
        return FileFingerprint(status).isOfSameFile(as: print)
    }
}

/// A held file whose name in the inbox belongs to another document by now.
struct OrphanRecord: LocalRow, Hashable {
    static let collection = "held-orphans"

    var root: Int64
    var held: BytePath
    var document: DocumentID

    var key: [UInt8] { folderKey(root, held) }

    init(root: Int64, held: BytePath, document: DocumentID) {
        self.root = root
        self.held = held
        self.document = document
    }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        held = try fields.path("held")
        document = try fields.document("document")
    }

    var fields: Fields {
        ["root": .integer(root), "held": .path(held), "document": .document(document)]
    }
}
