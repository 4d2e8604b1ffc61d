package import ChuteKit
import ChuteSystem

/// Puts together what `status` and `list` say, from one look at the database and, where an
/// agent runs, what it told.
package struct StatusReader: Sendable {
    private let configuration: Configuration

    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// `live` is the answer to `AgentRequest.status`; `nil` where no agent runs.
    package func report(_ snapshot: Snapshot, live: Fields?) throws -> StatusReport {
        var report = StatusReport(
            device: .init(id: snapshot.device.description, name: configuration.deviceName),
            running: live != nil, space: try snapshot.space()?.description)
        let members = try snapshot.members().filter { $0.id != snapshot.device }
        report.peers = members.map { Self.peer($0, isRunning: live != nil) }
        let states = live?["states"]?.array ?? []
        for (index, settings) in configuration.folders.enumerated() {
            let known = index < states.count ? states[index].string : nil
            let state = known ?? (live == nil ? "stopped" : "unknown")
            report.folders.append(try folder(settings, state, members, snapshot, live))
        }
        report.transports =
            live?["transports"]?.array?.compactMap(TransportStatus.init)
            ?? TransportStatus.all(configuration, nil)
        report.transfers = try transfers(live, snapshot, members)
        report.notes = (live?["notes"]?.array ?? []).compactMap(\.string)
        report.removedBy = try removers(snapshot, live)
        return report
    }

    /// The names of those who took this device out of the space, as the facts here say or as one
    /// of them said when it was dialled; `nil` where nobody did.
    private func removers(_ snapshot: Snapshot, _ live: Fields?) throws -> [String]? {
        let said = (live?["removed"]?.array ?? []).compactMap { value in
            value.bytes.flatMap { Digest(bytes: $0) }.map { DeviceID($0) }
        }
        let known = try snapshot.removers()
        guard known != nil || !said.isEmpty else { return nil }
        let devices = Set(known ?? []).union(said)
        return try devices.map { try snapshot.profile(of: $0)?.name ?? $0.short }.sorted()
    }

    package static func peer(_ member: Member, isRunning: Bool) -> StatusReport.Peer {
        let presence = member.presence
        let isConnected = isRunning && presence?.isConnected ?? false
        return StatusReport.Peer(
            id: member.id.description, name: member.profile?.name ?? member.id.short,
            role: member.role.rawValue, connected: isConnected,
            transport: isConnected ? presence?.transport : nil,
            address: isConnected ? presence?.address : nil,
            lastSeen: member.lastHeard.map { Timestamp(seconds: Int64(clamping: $0)) })
    }

    private func folder(
        _ settings: FolderSettings, _ state: String, _ members: [Member],
        _ snapshot: Snapshot, _ live: Fields?, skippedLimit: Int = 100
    ) throws -> StatusReport.FolderState {
        var report = StatusReport.FolderState(
            collection: settings.collection, inbox: settings.inbox, outbox: settings.outbox,
            state: state)
        report.shared = try snapshot.ownDocumentCount(in: settings.collection)
        let bytes = try snapshot.ownByteCount(in: settings.collection)
        let tallies = try snapshot.tallies(of: settings.collection)
        for member in members where member.isRecipient {
            let tally = tallies[member.id] ?? Snapshot.Tally()
            var delivery = StatusReport.Delivery(id: member.id.description)
            delivery.delivered = tally.delivered
            delivery.refused = tally.refused
            delivery.notWanted = tally.notWanted
            delivery.removed = tally.removed
            let open = max(
                0, report.shared - tally.delivered - tally.refused - tally.notWanted)
            if member.profile?.collections.contains(settings.collection) ?? true {
                delivery.pending = open
                delivery.bytesPending =
                    bytes > tally.bytesAnswered ? bytes - tally.bytesAnswered : 0
            } else {
                delivery.notWanted += open
            }
            report.peers.append(delivery)
            report.pending += delivery.pending
        }
        if let outbox = settings.outbox,
            let root = try snapshot.row(FolderRecord.self, FolderRecord.key(.outbox, outbox))?.root
        {
            let counts = try snapshot.counts(DeliveryRecord.self, by: "state")
            report.delivered =
                counts[DeliveryRecord.stateIndex(root: root, .delivered)] ?? 0
            report.coming = counts[DeliveryRecord.stateIndex(root: root, .fetching)] ?? 0
            for state in [DeliveryRecord.State.refused, .waiting] {
                for row in try snapshot.rows(
                    DeliveryRecord.self, where: "state",
                    is: DeliveryRecord.stateIndex(root: root, state))
                {
                    let document = try snapshot.document(row.document, in: settings.collection)
                    let path = document?.fields.flatMap(FileDocument.init)?.joinedPath ?? ""
                    report.add(
                        path, row.reason, row.detail, skippedLimit,
                        state == .waiting ? .waiting : .leftOut)
                }
            }
            try addStalled(root, settings, members, snapshot, live, skippedLimit, &report)
        }
        addClocks(live, members, skippedLimit, &report)
        if let inbox = settings.inbox,
            let root = try snapshot.row(FolderRecord.self, FolderRecord.key(.inbox, inbox))?.root
        {
            try addSkipped(root, snapshot, live, skippedLimit, &report)
        }
        return report
    }

    private func transfers(
        _ live: Fields?, _ snapshot: Snapshot, _ members: [Member]
    ) throws -> [StatusReport.Transfer] {
        try (live?["transfers"]?.array ?? []).compactMap { value in
            guard let fields = value.map, let id = fields["file"]?.attachmentToken?.id,
                let done = fields["done"]?.integer
            else { return nil }
            let peer = fields["peer"]?.bytes.flatMap { Digest(bytes: $0) }.map { DeviceID($0) }
            let member = members.first { $0.id == peer }
            var name = BytePath(id.description)
            for settings in configuration.folders {
                let found = try snapshot.documents(in: settings.collection, naming: id, limit: 1)
                if let file = found.first?.fields.flatMap(FileDocument.init) {
                    name = file.joinedPath
                    break
                }
            }
            return StatusReport.Transfer(
                id: id.blobName, name: name, peer: member?.profile?.name ?? peer?.short ?? "",
                direction: fields["direction"]?.string == "sending" ? .outgoing : .incoming,
                done: UInt64(max(0, done)), total: id.byteCount)
        }
    }

    /// All documents that are known, and what was skipped; `live` as for `report`.
    package func documents(
        _ snapshot: Snapshot, live: Fields?, onlySkipped: Bool
    ) throws -> DocumentList {
        var list = DocumentList()
        var names: [DeviceID: String] = [snapshot.device: configuration.deviceName]
        let members = try snapshot.members().filter { $0.id != snapshot.device }
        for member in members {
            names[member.id] = member.profile?.name ?? member.id.short
        }
        for settings in configuration.folders {
            let report = try folder(settings, "", members, snapshot, live, skippedLimit: .max)
            list.skipped += report.skipped
            guard !onlySkipped else { continue }
            let outbox = try settings.outbox.flatMap {
                try snapshot.row(FolderRecord.self, FolderRecord.key(.outbox, $0))?.root
            }
            var after: Int64 = 0
            while true {
                let page = try snapshot.documents(
                    in: settings.collection, learnedAfter: after, limit: 512)
                guard let last = page.last else { break }
                after = last.learned
                for document in page {
                    guard let file = document.fields.flatMap(FileDocument.init) else { continue }
                    list.documents.append(
                        try entry(document, file, outbox, snapshot, names))
                }
            }
        }
        return list
    }

    private func entry(
        _ document: OwnedDocument, _ file: FileDocument, _ outbox: Int64?, _ snapshot: Snapshot,
        _ names: [DeviceID: String]
    ) throws -> DocumentList.Document {
        var state = "shared"
        if document.origin != snapshot.device {
            let row = try outbox.flatMap {
                try snapshot.row(
                    DeliveryRecord.self, DeliveryRecord.key(root: $0, document.id))
            }
            state = row?.state.rawValue ?? "known"
            if let reason = row?.reason, !reason.isEmpty { state += " (\(reason))" }
        }
        let receipts = try snapshot.receipts(for: document).sorted { $0.key < $1.key }.map {
            DocumentList.Receipt(
                peer: names[$0.key] ?? $0.key.short, state: $0.value.state.words)
        }
        return DocumentList.Document(
            id: document.id.hex, collection: document.collection,
            name: file.joinedPath, type: file.type, size: file.attachment.byteCount,
            origin: names[document.origin] ?? document.origin.short, state: state,
            receipts: receipts)
    }
}

extension StatusReport.FolderState {
    mutating func add(
        _ path: BytePath, _ reason: String, _ detail: String, _ limit: Int,
        _ kind: StatusReport.Skipped.Kind = .leftOut
    ) {
        skippedTotal[reason, default: 0] += 1
        if kind != .leftOut { apart[kind, default: [:]][reason, default: 0] += 1 }
        if skipped.count < limit {
            skipped.append(.init(path: path, reason: reason, detail: detail, kind: kind))
        }
    }
}

extension IngestNote {
    var doubt: String {
        switch self {
        case .possiblyTruncated: "shared, but its end or its head seems to be missing"
        case .empty: "shared, but there is nothing in it"
        }
    }
}

extension Receipt.State {
    fileprivate var words: String {
        switch self {
        case .delivered: "delivered"
        case .refused(let reason): "refused (\(reason))"
        case .notWanted: "not wanted"
        }
    }
}
