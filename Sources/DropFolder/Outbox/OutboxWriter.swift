import ChuteKit
import ChuteSystem
import Glibc

/// Brings what others shared in one collection into one outbox.
///
/// Documents are looked at in the order in which they were learned; what has to be done about
/// each is a row, so that after a crash asking again is the recovery.
///
/// ## Concurrency
/// An actor on a queue of its own, which syncs and renames. One loop takes what came, one batch
/// after the other; a batch is what queued while the one before was on its way to the disk.
actor OutboxWriter {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    enum Event: Sendable {
        /// Documents may be new.
        case look
        case fetched(FetchOutcome)
        /// Look again at what waits.
        case tick
        /// See whether the copies are still there.
        case check
    }

    /// An outbox that is there: opened, with its staging folder of this start.
    struct Place {
        let publisher: OutboxPublisher
        let staging: StagingFolder
    }

    let chute: Chute
    let folder: FolderSettings
    let record: FolderRecord
    let rules: DeliveryDecision.Rules
    let layout: OutboxLayout
    let log: Log
    nonisolated let events = Mailbox<Event>()
    var place: Place?
    private(set) var isWaiting = false
    /// What was fetched while the outbox was not there.
    var unplaced: [FetchOutcome] = []
    var learned: Int64
    /// What staged files must be, for the comparison with files of the user.
    var expected: [BytePath: AttachmentID] = [:]
    var expectedTarget: [[[UInt8]]: AttachmentID] = [:]
    let detector = MIMEDetector()
    let hasher = AttachmentHasher()

    private static let pageCount = 1024

    var root: Int64 { record.root }

    init(
        chute: Chute, folder: FolderSettings, record: FolderRecord, log: Log
    ) throws {
        executor = QueueExecutor(label: "chute.outbox")
        self.chute = chute
        self.folder = folder
        self.record = record
        self.log = log
        learned = record.learned
        rules = DeliveryDecision.Rules(
            accept: folder.accept,
            maxSize: folder.maxSize)
        layout = folder.layout
    }

    /// Works until cancelled. Throws where the store fails.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.work() }
            group.addTask {
                for await _ in self.chute.store.updates(of: [.documents, .members]) {
                    self.events.post(.look)
                }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: .seconds(15), tolerance: .seconds(5))
                    self.events.post(.tick)
                }
            }
            group.addTask {
                while true {
                    self.events.post(.check)
                    try await Task.sleep(for: .seconds(300), tolerance: .seconds(60))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func work() async throws {
        events.post(.tick)  // opens the folder
        while true {
            let came = await events.next()
            if came.isEmpty { return }
            var looks = false
            var ticks = false
            var checks = false
            var fetched: [FetchOutcome] = []
            for event in came {
                switch event {
                case .look: looks = true
                case .tick: ticks = true
                case .check: checks = true
                case .fetched(let outcome): fetched.append(outcome)
                }
            }
            do {
                if ticks, place == nil { try await openPlace() }
                if looks { try await lookAtNewDocuments() }
                if !fetched.isEmpty { try await take(fetched) }
                if ticks { try await retryWaiting() }
                if checks { try await checkCopies() }
            } catch let error as SystemError {
                // The drive's fault: this outbox waits, all else goes on.
                unplaced += fetched
                wait("\(error)")
            }
        }
    }

    /// Opens the outbox if it is there, and recovers what a crash left unfinished.
    private func openPlace() async throws {
        do throws(SystemError) {
            guard
                case .ready(let root) = try FolderRoot.open(
                    at: record.path, expected: record.identity)
            else { return wait("not mounted") }
            let publisher = try OutboxPublisher(
                root: root,
                modes: .init(file: folder.fileMode, folder: folder.folderMode)
            ) { [weak self] file, item in
                // Called while the publisher works for this actor, on its own queue.
                self?.assumeIsolated { [raw = file.raw] in $0.isExpected(raw, item) } ?? false
            }
            place = Place(publisher: publisher, staging: try StagingFolder.make(in: root))
        } catch {
            return wait("\(error)")
        }
        isWaiting = false
        try await recover()
        for outcome in unplaced { events.post(.fetched(outcome)) }
        unplaced = []
        events.post(.look)  // documents came meanwhile
    }

    private func wait(_ why: String) {
        if !isWaiting { log.warning("the outbox \(record.path) waits: \(why)") }
        isWaiting = true
        place = nil
    }

    /// Gives up the folder when it is not where it was: everything else waits for it.
    func placeInUse() -> Place? {
        guard let place else { return nil }
        if place.publisher.root.isInPlace() { return place }
        wait("not mounted")
        return nil
    }

    private func isExpected(_ descriptor: Int32, _ item: PublishItem) -> Bool {
        guard let attachment = expected[item.staged.name] else { return false }
        do {
            return try hasher.hash(
                descriptor: descriptor, expectedLength: attachment.byteCount
            )?.attachment == attachment
        } catch {
            return false
        }
    }

    // MARK: New documents

    func lookAtNewDocuments() async throws {
        guard let place = placeInUse() else { return }
        let start = place.staging.start
        while true {
            let (collection, after) = (folder.collection, learned)
            let page = try await chute.reader.read {
                try $0.documents(
                    in: collection, learnedAfter: after, limit: Self.pageCount)
            }
            guard let last = page.last else { return }
            let (root, rules, key, own) = (root, rules, record.key, chute.device)
            let space = try await availableSpace(place)
            // Done before it counts as learned, so that a crash does not lose it.
            for document in try await toMoveOrRetract(page) { try await moveOrRetract(document) }
            guard placeInUse() != nil else { return }
            try await chute.store.write(durable: .withNext) { transaction in
                var budget = space
                for document in page where document.origin != own {
                    let writing = DeliveryWriting(
                        transaction: transaction, root: root, start: start, rules: rules)
                    try writing.decide(document, &budget)
                }
                if var folder = try transaction.row(FolderRecord.self, key) {
                    folder.learned = last.learned
                    try transaction.put(folder)
                }
            }
            learned = last.learned
            if page.count < Self.pageCount { return }
        }
    }

    /// The documents whose copy here is renamed or taken back by its origin.
    private func toMoveOrRetract(_ page: [Document]) async throws -> [Document] {
        let (root, rules, own) = (root, rules, chute.device)
        return try await chute.reader.read { snapshot in
            try page.filter { document in
                guard document.origin != own else { return false }
                let key = DeliveryRecord.key(root: root, document.id)
                let record = try snapshot.row(DeliveryRecord.self, key)
                return [.move, .retract].contains(
                    DeliveryDecision.of(document, record, rules))
            }
        }
    }

    /// The space that may still be taken: what is free less what must stay so, within what the
    /// outbox may hold altogether.
    func availableSpace(_ place: Place) async throws -> SpaceBudget {
        let info = try FileSystemInfo.of(
            descriptor: place.publisher.root.folder.descriptor.raw)
        let hasNames = info.freeFiles.map { $0 > 16 } ?? true
        let free =
            hasNames && info.freeBytes > folder.minFree ? info.freeBytes - folder.minFree : 0
        guard let total = folder.maxTotal else {
            return SpaceBudget(available: free, reason: .noSpace)
        }
        let root = root
        let used = try await chute.reader.read { try $0.byteCount(inRoot: root) }
        let quota = total > used ? total - used : 0
        return SpaceBudget(
            available: min(free, quota), reason: quota < free ? .overQuota : .noSpace)
    }

    // MARK: What waits

    private func retryWaiting() async throws {
        guard let place = placeInUse() else { return }
        let index = DeliveryRecord.stateIndex(root: root, .waiting)
        let waiting = try await chute.reader.read {
            try $0.rows(DeliveryRecord.self, where: "state", is: index, limit: 1024)
        }
        let again = waiting.filter { $0.want == nil }
        guard !again.isEmpty else { return }
        let (root, rules, start) = (root, rules, place.staging.start)
        let (collection, space) = (folder.collection, try await availableSpace(place))
        try await chute.store.write { transaction in
            var budget = space
            for record in again {
                guard let document = try transaction.document(record.document, in: collection)
                else { continue }
                let writing = DeliveryWriting(
                    transaction: transaction, root: root, start: start, rules: rules)
                try writing.fetch(document, record, &budget)
            }
        }
    }
}

/// The space that is left for files that are about to be fetched.
struct SpaceBudget: Sendable {
    private let available: UInt64
    private var used: UInt64 = 0
    /// Why a file that does not fit waits.
    let reason: SkipReason

    init(available: UInt64, reason: SkipReason) {
        self.available = available
        self.reason = reason
    }

    /// Takes `count` bytes; `false` where there are not enough.
    mutating func take(_ count: UInt64) -> Bool {
        guard count <= available - used else { return false }
        used += count
        return true
    }
}
