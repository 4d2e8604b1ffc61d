import ChuteSystem

extension StatusReport {
    /// How many skipped names of a folder the JSON lists at most.
    static let listedSkipped = 100

    /// Schema 1.
    package var json: JSONValue {
        .object([
            "schema": .integer(1),
            "device": .object(["id": .string(device.id), "name": .string(device.name)]),
            "running": .boolean(running),
            "space": .text(space),
            "peers": .array(peers.map(\.json)),
            "transports": .array(transports.map(\.json)),
            "folders": .array(folders.map(\.json)),
            "transfers": .array(transfers.map(\.json)),
        ])
    }
}

extension StatusReport.Peer {
    package var json: JSONValue {
        .object([
            "id": .string(id), "name": .string(name), "role": .string(role),
            "connected": .boolean(connected), "transport": .text(transport),
            "address": .text(address), "lastSeen": .text(lastSeen?.description),
        ])
    }
}

extension StatusReport.FolderState {
    var json: JSONValue {
        .object([
            "collection": .string(collection),
            "inbox": .text(inbox?.shown), "outbox": .text(outbox?.shown),
            "state": .string(state),
            "shared": .count(shared), "delivered": .count(delivered), "pending": .count(pending),
            "peers": .array(peers.map(\.json)),
            "skipped": .array(skipped.prefix(StatusReport.listedSkipped).map(\.json)),
            "skippedTotal": .object(
                skippedTotal.sorted { $0.key < $1.key }
                    .map { JSONValue.Member(key: $0.key, value: .count($0.value)) }),
        ])
    }
}

extension StatusReport.Delivery {
    var json: JSONValue {
        .object([
            "id": .string(id), "delivered": .count(delivered), "pending": .count(pending),
            "refused": .count(refused), "notWanted": .count(notWanted),
            "removed": .count(removed), "bytesPending": .count(bytesPending),
        ])
    }
}

extension StatusReport.Skipped {
    package var json: JSONValue {
        .object([
            "path": .string(path.shown), "pathBytes": path.exactBytes,
            "reason": .string(reason), "detail": .string(detail),
        ])
    }
}

extension StatusReport.Transfer {
    var json: JSONValue {
        .object([
            "id": .string(id), "name": .string(name.shown), "peer": .string(peer),
            "direction": .string(direction.rawValue), "done": .count(done),
            "total": .count(total),
        ])
    }
}

extension BytePath {
    /// The name as JSON gives it: itself where it is UTF-8, else escaped.
    package var shown: String { string ?? description }

    /// The bytes in base64 where `shown` is not the name itself.
    package var exactBytes: JSONValue { string == nil ? .string(Base64.text(bytes)) : .null }
}
