import ChuteKit
import ChuteSystem

/// What only the running agent knows.
extension Agent {
    private static let shownStalled = 1000

    /// Transfers, and how each folder and the transport are.
    func liveStatus() async throws -> Fields {
        var states: [Value] = []
        for folder in folders.all {
            var state = "running"
            if let inbox = folder.inbox,
                case .waiting(let reason)? = await ingestors[inbox.root]?.state
            {
                state = "waiting: \(reason.rawValue)"
            }
            if let outbox = folder.outbox, let writer = writers[outbox.root],
                await writer.isWaiting
            {
                state = "waiting: \(await writer.waitReason.rawValue)"
            }
            let roots = [folder.inbox?.root, folder.outbox?.root].compactMap(\.self)
            if roots.contains(where: folders.locks.isElsewhere) {
                state = "waiting: held-elsewhere"
            }
            states.append(.string(state))
        }
        let (configuration, trouble) = current.withLock { ($0.configuration, $0.trouble) }
        var notes: [Value] = []
        if let trouble {
            notes += trouble.problems.map { .string($0) }
            notes.append(.string("the configuration of before that is used until it is mended"))
        }
        for ingestor in ingestors.values {
            notes += ingestor.taker.notes.map { .string($0) }
        }
        let transfers = chute.transfers().map { transfer -> Value in
            .map([
                "file": .attachment(transfer.attachment),
                "peer": .optional(transfer.peer.map { .bytes($0.digest.bytes) }),
                "direction": .string(transfer.direction.rawValue),
                "done": .integer(Int64(clamping: transfer.done)),
            ])
        }
        var busy: [Value] = []
        for (root, ingestor) in ingestors {
            for (path, reason) in await ingestor.tracker.reasons.prefix(100) {
                busy.append(
                    .map([
                        "root": .integer(root), "path": .path(path),
                        "reason": .string(reason.rawValue),
                    ]))
            }
        }
        var settling: [Value] = []
        for (root, ingestor) in ingestors {
            let count = await ingestor.tracker.count + ingestor.undecided.count
            settling.append(.map(["root": .integer(root), "count": .integer(Int64(count))]))
        }
        let removed = await chute.removedBy.map { device -> Value in
            .bytes(device.digest.bytes)
        }
        let stalled = await chute.stalledFetches().sorted().prefix(Self.shownStalled)
        let clocks = await chute.clockLeads().map { device, seconds -> Value in
            .map(["peer": .bytes(device.digest.bytes), "lead": .integer(seconds)])
        }
        return [
            "states": .array(states), "notes": .array(notes), "transfers": .array(transfers),
            "busy": .array(busy), "clocks": .array(clocks), "settling": .array(settling),
            "removed": .array(removed),
            "configuration": .optional(trouble.map { .bytes($0.text) }),
            "transports": .array(
                TransportStatus.all(configuration, await chute.transportStates).map(\.value)),
            "stalled": .array(stalled.map { .attachment(AttachmentToken(id: $0)) }),
        ]
    }
}
