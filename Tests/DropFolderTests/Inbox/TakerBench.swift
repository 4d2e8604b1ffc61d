import ChuteSystem
import Glibc
import Synchronization
import TestSupport

@testable import ChuteKit
@testable import DropFolder

/// An inbox with a store, in which files are shared as the ingestor does it, and a taker whose
/// peers answer what a test says.
struct TakerBench {
    let chute: Chute
    let top: BytePath
    let target: BytePath
    let record: FolderRecord
    let inbox: InboxRoot
    let answers = Answers([.init(answer: .delivered)])

    final class Answers: Sendable {
        private let others: Mutex<[TakeDecision.Other]>
        init(_ others: [TakeDecision.Other]) { self.others = Mutex(others) }
        var all: [TakeDecision.Other] { others.withLock { $0 } }
        func set(_ new: TakeDecision.Other...) { others.withLock { $0 = new } }
    }

    /// `target` is where files are moved to, unless it is told otherwise beside the inbox.
    init(at top: BytePath, target: BytePath? = nil) async throws {
        ignoreSignals()
        self.top = top
        self.target = target ?? top.appending("done")
        let path = top.appending("inbox")
        chute = try await Chute.open(
            identity: .paired, persistenceDirectory: top.appending("home"), network: .offline)
        let folder = try FolderRoot.establish(at: path, use: .init(.inbox, space: nil))
        record = try await chute.store.write { transaction in
            let root = try transaction.registerRoot(
                mark: Array(folder.identity.text.utf8), path: path, role: "inbox")
            return FolderRecord(
                kind: .inbox, collection: "pics", path: path, identity: folder.identity,
                root: root)
        }
        chute.attach(
            root: record.root, path: path, mark: folder.identity.markPrefix, isKept: false)
        inbox = try InboxRoot(at: path)
    }

    var path: BytePath { record.path }

    func writing(_ transaction: Transaction) -> InboxWriting {
        InboxWriting(
            transaction: transaction, root: record.root, collection: "pics", inbox: inbox)
    }

    func taker(_ afterIngest: FolderSettings.AfterIngest, isMarked: Bool = true) -> InboxTaker {
        var folder = FolderSettings(collection: "pics", inbox: path)
        folder.afterIngest = afterIngest
        var settings = InboxTaker.Settings(folder, record, roots: [path: .inbox])
        if !isMarked { settings.isMarked = false }
        let (answers, inbox) = (answers, inbox)
        return InboxTaker(
            chute: chute, settings: settings, log: Log(level: .error, showsPriority: false),
            others: { _, _ in { _ in answers.all } },
            ask: { [device = chute.device] attachments in
                Dictionary(uniqueKeysWithValues: Set(attachments).map { ($0, [device]) })
            }, inbox: { inbox })
    }

    /// Writes a file and shares it.
    @discardableResult
    func drop(_ name: BytePath, _ text: String, isHeld: Bool = true) async throws -> InboxRecord {
        if !name.parent.isEmpty { try Folder.make(path.appending(name.parent)) }
        try SampleFiles.write(Array(text.utf8), to: path.appending(name))
        let file = try read(name, isHeld: isHeld)
        let root = record.root
        return try await chute.store.write { transaction in
            let writer = writing(transaction)
            _ = try writer.write(file, .newDocument, over: writer.row(at: name))
            guard let row = try transaction.row(InboxRecord.self, folderKey(root, name)) else {
                throw NeverHappened(what: "a row of \(name)")
            }
            return row
        }
    }

    /// A file as the ingestor reads it.
    func read(_ name: BytePath, isHeld: Bool = true) throws -> IngestedFile {
        let file = try inbox.folder.open(name, O_RDONLY)
        let size = try file.status().size
        guard
            let hashed = try AttachmentHasher().hash(descriptor: file.raw, expectedLength: size)
        else { throw NeverHappened(what: "a hash of \(name)") }
        let held = isHeld ? try HeldFiles().hold(file, name, hashed.attachment, in: inbox) : nil
        let status = try file.status()
        return IngestedFile(
            path: name, fingerprint: FileFingerprint(status), attachment: hashed.attachment,
            layer: hashed.layer, note: nil, type: "text/plain", mode: status.mode, readAt: .zero,
            held: held?.path, isHeldOwned: held?.isOwned ?? false)
    }

    /// The record of a file that is about to be set aside, written.
    func begin(_ row: InboxRecord, isHeld: Bool = false) async throws -> TakeRecord {
        try await chute.store.write { transaction in
            guard let document = try transaction.document(row.document, in: "pics") else {
                throw NeverHappened(what: "a document")
            }
            let record = TakeRecord(
                row, version: document.versionID, held: isHeld ? row.held : nil)
            try transaction.put(record)
            return record
        }
    }

    func setAside(_ record: TakeRecord) throws {
        guard let aside = try TakenFolder(in: inbox),
            try aside.setAside(record.path, as: record.name)
        else { throw NeverHappened(what: "set aside") }
    }

    /// What is recorded once the file is found to be what was shared.
    func markLeaving(_ record: TakeRecord) async throws -> TakeRecord {
        try await chute.store.write { transaction in
            var leaving = record
            leaving.stage = .leaving
            try transaction.put(leaving)
            if var row = try transaction.row(
                InboxRecord.self, folderKey(record.root, record.path))
            {
                row.isTaken = true
                row.wasSeenAbsent = true
                try transaction.put(row)
            }
            return leaving
        }
    }

    func write(_ record: TakeRecord) async throws {
        try await chute.store.write { try $0.put(record) }
    }

    func row(_ name: BytePath) async throws -> InboxRecord? {
        let key = folderKey(record.root, name)
        return try await chute.store.read { try $0.row(InboxRecord.self, key) }
    }

    func records() async throws -> [TakeRecord] {
        try await chute.store.read { try $0.rows(TakeRecord.self) }
    }

    /// The files of the inbox with their text.
    func files(in folder: BytePath? = nil) throws -> [BytePath: String] {
        let folder = folder ?? path
        guard (try? Folder(at: folder)) != nil else { return [:] }
        var files: [BytePath: String] = [:]
        for name in try FolderTree.paths(below: folder) { files[name] = try text(name, in: folder) }
        return files
    }

    func text(_ name: BytePath, in folder: BytePath) throws -> String {
        let file = try FileDescriptor.open(folder.appending(name), O_RDONLY)
        return String(decoding: try file.read(count: 1 << 16, at: 0), as: UTF8.self)
    }

    func namesAside() throws -> [BytePath] {
        guard let aside = try TakenFolder(in: inbox, isMaking: false) else { return [] }
        return try aside.folder.entries().map(\.name)
    }
}
