import ChuteKit
import ChuteSystem

/// Writes within a transaction what was decided about a document of somebody else.
struct DeliveryWriting {
    let transaction: Transaction
    let root: Int64
    /// The staging folder of this start.
    let start: BytePath
    let rules: DeliveryDecision.Rules

    /// Decides and writes. Copies that move or are taken back are dealt with before.
    func decide(_ document: Document, _ budget: inout SpaceBudget) throws {
        let record = try transaction.row(
            DeliveryRecord.self, DeliveryRecord.key(root: root, document.id))
        switch DeliveryDecision.of(document, record, rules) {
        case .none, .move, .retract: break
        case .withdraw:
            guard var record else { return }
            try dropWant(&record)
            record.version = document.version
            record.versionID = document.versionID
            record.state = .retracted
            try transaction.put(record)
        case .refuse(let reason, let detail):
            try refuse(document, record, reason, detail)
        case .fetch: try fetch(document, record, &budget)
        }
    }

    /// Asks for the bytes of a version, or notes that there is no space for them now.
    func fetch(
        _ document: Document, _ known: DeliveryRecord?, _ budget: inout SpaceBudget
    ) throws {
        guard let file = document.fields.flatMap(FileDocument.init) else { return }
        var record =
            known ?? DeliveryRecord(root: root, document: document, file: file, state: .fetching)
        try dropWant(&record)
        record.version = document.version
        record.versionID = document.versionID
        record.attachment = file.attachment
        guard budget.take(file.attachment.byteCount) else {
            record.state = .waiting
            record.reason = budget.reason.rawValue
            record.detail = "\(file.attachment.byteCount) bytes do not fit"
            return try transaction.put(record)
        }
        let name = BytePath(
            "\(document.id.description.prefix(32))-\(document.version)-"
                + String(UInt32.random(in: .min ... .max), radix: 36))
        let want = try transaction.want(
            file.attachment, root: root,
            path: BytePath(".chute/staging").appending(start).appending(name),
            from: document.origin)
        record.state = .fetching
        record.reason = ""
        record.detail = ""
        record.want = want.id
        record.staged = start.appending(name)
        try transaction.put(record)
    }

    /// Says no, to the row and to the origin.
    func refuse(
        _ document: Document, _ known: DeliveryRecord?, _ reason: SkipReason, _ detail: String
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

    /// A want of an earlier version is of no use any more; its staged file goes with the next
    /// start.
    private func dropWant(_ record: inout DeliveryRecord) throws {
        if let want = record.want { try transaction.unwant(want) }
        record.want = nil
        record.staged = nil
    }
}
