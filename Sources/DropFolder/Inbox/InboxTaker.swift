import ChuteKit
import ChuteSystem
import Glibc
import Synchronization

/// `after_ingest`: takes dropped files out of one inbox once another member has them.
///
/// What may go is asked of the store; what is on its way is a `TakeRecord`. A file is looked at
/// under its name, set aside in `.chute/taken/`, hashed there, and only then removed or moved. What
/// is not as it was shared goes back under its name.
///
/// ## Concurrency
/// An actor on a queue of its own, which hashes and copies. One loop does all work, one thing
/// after the other; other threads post `events` and read `notes`, which a mutex has so that nobody
/// waits for a long file.
actor InboxTaker {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    enum Event: Sendable {
        /// The inbox is there, for the first time or again.
        case inboxCame
        /// Receipts may be new.
        case look
        /// Look again at what waits.
        case tick
    }

    /// Who says to have what, of those who were asked.
    typealias Keepers = [AttachmentID: Set<DeviceID>]

    /// What the receipts of one state of the store say of a document, and what was answered about
    /// its attachment; `nil` where nobody was asked.
    typealias Others =
        @Sendable (Snapshot, Keepers?) throws -> (OwnedDocument) throws -> [TakeDecision.Other]

    /// Asks members about attachments.
    typealias Ask = @Sendable ([AttachmentID]) async throws -> Keepers

    /// What it works on.
    struct Settings: Sendable {
        var collection: String
        var root: Int64
        var inbox: BytePath
        var afterIngest: FolderSettings.AfterIngest
        /// Without a mark the inbox cannot be written, and files stay.
        var isMarked: Bool
        /// Every inbox and outbox of the agent: nothing is moved to a folder in one of these.
        var roots: [BytePath: RootMark.Use.Kind]

        init(
            _ folder: FolderSettings, _ record: FolderRecord,
            roots: [BytePath: RootMark.Use.Kind]
        ) {
            collection = folder.collection
            root = record.root
            inbox = record.path
            afterIngest = folder.afterIngest
            if case .marked = record.identity { isMarked = true } else { isMarked = false }
            self.roots = roots
        }
    }

    let chute: Chute
    let settings: Settings
    let log: Log
    let others: Others
    let ask: Ask
    nonisolated let events = Mailbox<Event>()
    private let currentInbox: @Sendable () -> InboxRoot?
    let probe = LeaseProbe { _, _ in .unknown }
    let hasher = AttachmentHasher()
    let holder = HeldFiles()
    /// The inbox of which the ingestor said that it is there, and the one of which all that lies
    /// aside was dealt with. Weak: one that is gone can be unmounted.
    private weak var arrived: InboxRoot?
    private weak var recovered: InboxRoot?
    /// Something left and is still recorded as on its way.
    var hasUnsettled = false
    private var waits = TakeWaits()
    /// What it took to look for what may go.
    private var readingTime = Duration.zero
    /// Why nothing can be moved, in a sentence.
    var targetTrouble: String? { didSet { showNotes() } }
    /// What could not be put back, in a sentence.
    var strandedNote: String? { didSet { showNotes() } }
    private let shown = Mutex<[String]>([])

    private static let pageCount = 256
    /// So many are on their way at once, and so many bytes.
    private static let batchCount = 64
    private static let batchByteCount: UInt64 = 64 << 20

    init(
        chute: Chute, settings: Settings, log: Log,
        others: @escaping Others = InboxTaker.receipts, ask: Ask? = nil,
        inbox: @escaping @Sendable () -> InboxRoot?
    ) {
        executor = QueueExecutor(label: "chute.taken")
        self.chute = chute
        self.settings = settings
        self.log = log
        self.others = others
        self.ask = ask ?? Self.askMembers(of: chute)
        currentInbox = inbox
    }

    /// Whether anything is ever taken away here.
    var isActing: Bool { settings.afterIngest != .keep && settings.isMarked }

    /// What a user should know, in sentences.
    nonisolated var notes: [String] {
        let unmarked =
            settings.afterIngest != .keep && !settings.isMarked
            ? ["after_ingest: files stay in \(settings.inbox), where nothing can be written"] : []
        return unmarked + shown.withLock { $0 }
    }

    private func showNotes() {
        var notes: [String] = []
        if let targetTrouble {
            notes.append("after_ingest: files stay in \(settings.inbox): \(targetTrouble)")
        }
        if let strandedNote { notes.append(strandedNote) }
        notes += waits.sentences.map { "after_ingest in \(settings.inbox): \($0)" }
        shown.withLock { [notes] in $0 = notes }
    }

    /// Works until cancelled. Throws where the store fails.
    func run() async throws {
        let isActing = isActing
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.work() }
            if isActing {
                group.addTask {
                    for await _ in self.chute.store.updates(of: [.receipts, .members]) {
                        self.events.post(.look)
                    }
                }
            }
            group.addTask {
                let pause = Duration.seconds(isActing ? 10 : 120)
                while true {
                    try await Task.pause(for: pause, tolerance: .seconds(10))
                    self.events.post(.tick)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func work() async throws {
        while true {
            let came = await events.next()
            if came.isEmpty { return }
            let inboxCame = came.contains(.inboxCame)
            if inboxCame { arrived = currentInbox() }
            if inboxCame || strandedNote != nil { recovered = nil }
            // What is held there is looked through before anything is added to it.
            guard let arrived, arrived === currentInbox() else { continue }
            let isOnlyTick = came.allSatisfy { $0 == .tick }
            let isTicking = !waits.isEmpty || targetTrouble != nil || hasUnsettled
            guard !isOnlyTick || isTicking || recovered == nil else { continue }
            readingTime = .zero
            try await pass()
            // Receipts come in bursts, and each look reads all rows.
            let pause = max(.seconds(1), readingTime * 10)
            try await Task.pause(for: pause, tolerance: pause / 4)
        }
    }

    /// Does what can be done now: first about what an earlier run left.
    func pass() async throws {
        guard let inbox = currentInbox() else { return }
        if hasUnsettled { recovered = nil }
        if recovered !== inbox {
            hasUnsettled = false
            guard try await recover(in: inbox) else { return }
            recovered = inbox
        }
        guard isActing else { return }
        var target: MoveTarget?
        if case .move(let path) = settings.afterIngest {
            target = try await openTarget(path)
            guard target != nil else { return }
        }
        var seen: Set<DocumentID> = []
        var after = folderKey(settings.root)
        while currentInbox() === inbox, !Task.isCancelled {
            let start = ContinuousClock.now
            let (due, end) = try await candidates(after: after)
            readingTime += ContinuousClock.now - start
            seen.formUnion(due.map(\.row.document))
            let now = ContinuousClock.now
            var ready = due.filter { waits.isDue($0.row.document, now) }[...]
            while !ready.isEmpty, !Task.isCancelled {
                var size: UInt64 = 0
                let batch = ready.prefix(Self.batchCount).prefix { candidate in
                    defer { size += candidate.row.attachment.byteCount }
                    return size < Self.batchByteCount
                }
                ready = ready.dropFirst(batch.count)
                try await take(Array(batch), in: inbox, to: target)
                showNotes()
            }
            guard let end else { break }
            after = end
        }
        waits.keepOnly(seen)
        showNotes()
    }

    /// A file that may go.
    struct Candidate: Sendable {
        let row: InboxRecord
        let version: Digest
        let needsHeld: Bool
    }

    /// Those of a page of rows, and where the next page begins.
    private func candidates(after start: [UInt8]) async throws -> ([Candidate], [UInt8]?) {
        let (collection, others) = (settings.collection, others)
        let prefix = folderKey(settings.root)
        return try await chute.store.read { snapshot in
            let page = try snapshot.rows(InboxRecord.self, after: start, limit: Self.pageCount)
                .prefix { $0.key.starts(with: prefix) }
            let others = try others(snapshot, nil)
            let due = try page.compactMap { row -> Candidate? in
                guard !row.isTaken, !row.wasSeenAbsent,
                    let document = try snapshot.document(row.document, in: collection),
                    case .take(let needsHeld) = TakeDecision.of(
                        try snapshot.takeFacts(row, document, others))
                else { return nil }
                return Candidate(row: row, version: document.versionID, needsHeld: needsHeld)
            }
            return (due, page.count == Self.pageCount ? page.last?.key : nil)
        }
    }

    /// Forgets why files stayed that have left.
    func endWaits(_ records: [TakeRecord]) {
        for record in records { waits.remove(record.document) }
        showNotes()
    }

    /// Remembers why a file stays, and looks at it again later.
    func wait(_ document: DocumentID, _ path: BytePath, _ reason: TakeWaits.Reason) {
        if waits.add(document, path, reason, ContinuousClock.now) {
            log.info("after_ingest: \(path) stays for now: \(reason.words)")
        }
    }
}
