import ChuteKit
import ChuteSystem

/// Writes within a transaction what was decided about documents of somebody else.
struct DeliveryWriting {
    /// A staged file that no row needs any more: to be removed after the commit.
    struct Dropped: Hashable, Sendable {
        /// Of the delivery's row.
        let key: [UInt8]
        /// The start, then the name.
        let staged: BytePath
    }

    let transaction: Transaction
    let root: Int64
    /// The staging folder of this start.
    let start: BytePath
    let rules: DeliveryDecision.Rules
    var budget = SpaceBudget.none
    /// What may still come of single devices.
    private(set) var peers: PeerBudgets
    private(set) var dropped: [Dropped] = []

    init(
        _ transaction: Transaction, root: Int64, start: BytePath, rules: DeliveryDecision.Rules,
        budget: SpaceBudget = .none, peers: PeerBudgets = PeerBudgets()
    ) {
        self.transaction = transaction
        self.root = root
        self.start = start
        self.rules = rules
        self.budget = budget
        self.peers = peers
    }

    /// Decides and writes. Copies that move or are taken back are dealt with before.
    mutating func decide(_ document: OwnedDocument) throws {
        let record = try transaction.row(
            DeliveryRecord.self, DeliveryRecord.key(root: root, document.id))
        switch DeliveryDecision.of(document, record, rules) {
        case .none, .move, .retract: break
        case .withdraw:
            guard let record else { return }
            try withdraw(record, document)
        case .refuse(let reason, let detail):
            try refuse(document, record, reason, detail)
        case .fetch: try fetch(document, record)
        }
    }

    /// Asks for the bytes of a version, or notes that there is no space for them now.
    mutating func fetch(_ document: OwnedDocument, _ known: DeliveryRecord?) throws {
        guard let file = document.fields.flatMap(FileDocument.init) else { return }
        var record =
            known ?? DeliveryRecord(root: root, document: document, file: file, state: .fetching)
        try dropWant(&record)
        record.version = document.version
        record.versionID = document.versionID
        record.attachment = file.attachment
        let counted = known?.countedBytes ?? 0
        let count = max(file.attachment.byteCount, record.heldBytes)
        let mayCome = peers.change(document.origin, from: counted, to: count)
        guard mayCome, budget.take(file.attachment.byteCount) else {
            let before = mayCome ? count : counted
            _ = peers.change(document.origin, from: before, to: record.heldBytes)
            record.state = .waiting
            record.reason = (mayCome ? budget.reason : .overQuota).rawValue
            record.detail =
                "\(file.attachment.byteCount) bytes do not fit"
                + (mayCome ? "" : " into max_total of [[peer]] for this device")
            // Asked again and again: nothing is written where nothing is new.
            if record != known { try transaction.put(record) }
            return
        }
        let name = StagedName.of(document.id, version: document.version)
        let want = try transaction.want(
            file.attachment, root: root,
            path: BytePath(".chute/staging").appending(start).appending(name),
            from: document.origin, part: rules.forFiles(of: document.origin).part(type: file.type))
        record.state = .fetching
        record.reason = ""
        record.detail = ""
        record.want = want.id
        record.staged = start.appending(name)
        try transaction.put(record)
    }

    /// Asks for what is missing of a file whose beginning is taken.
    func fetchRest(_ document: OwnedDocument, _ known: DeliveryRecord, of sample: Want) throws {
        var record = known
        try transaction.finish(want: sample.id)
        record.want = try transaction.want(
            sample.attachment, root: root, path: sample.path, from: document.origin, part: .rest
        ).id
        try transaction.put(record)
    }

    /// Says no, to the row and to the origin.
    mutating func refuse(
        _ document: OwnedDocument, _ known: DeliveryRecord?, _ reason: SkipReason, _ detail: String
    ) throws {
        guard let file = document.fields.flatMap(FileDocument.init) else { return }
        var record =
            known ?? DeliveryRecord(root: root, document: document, file: file, state: .refused)
        try dropWant(&record)
        record.version = document.version
        record.versionID = document.versionID
        record.attachment = file.attachment
        record.state = .refused
        record.reason = reason.rawValue
        record.detail = detail
        try transaction.put(record)
        try transaction.state(
            Receipt(
                collection: document.collection, document: document.id,
                version: document.versionID, state: .refused(reason: reason.rawValue)))
    }

    /// Ends a delivery whose origin took the document back. What has a name keeps it.
    mutating func withdraw(_ known: DeliveryRecord, _ document: OwnedDocument) throws {
        var record = known
        try dropWant(&record)
        record.version = document.version
        record.versionID = document.versionID
        record.state = .retracted
        record.reason = ""
        record.detail = ""
        try transaction.put(record)
    }

    /// Ends a delivery whose document is not to be seen any more: its author was removed, or this
    /// device left the space. Should the document come back, it is news.
    mutating func forget(_ known: DeliveryRecord) throws {
        var record = known
        try dropWant(&record)
        guard record.copy != nil else {
            return try transaction.remove(DeliveryRecord.self, record.key)
        }
        record.versionID = Digest.seed([])  // no version has it
        record.state = .retracted
        record.reason = ""
        record.detail = ""
        try transaction.put(record)
    }

    /// A want of an earlier version is of no use any more, nor is what was staged for it.
    private mutating func dropWant(_ record: inout DeliveryRecord) throws {
        if let want = record.want {
            try transaction.unwant(want)
            budget.giveBack(record.attachment.byteCount)
        }
        if let staged = record.staged {
            dropped.append(Dropped(key: record.key, staged: staged))
        }
        record.want = nil
        record.staged = nil
    }
}
