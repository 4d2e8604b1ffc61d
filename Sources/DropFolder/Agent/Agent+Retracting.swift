import ChuteKit
import ChuteSystem

/// Taking shared files back.
extension Agent {
    /// So many documents are taken back in one transaction.
    private static let batchCount = 256

    /// Takes back what `target` names: a document by its id or by the beginning of that, a file in
    /// an inbox by its path or by its path below the inbox, or all own files below a folder. A
    /// count of 0 says that it was taken back before.
    func retract(_ target: BytePath) async throws -> Fields {
        for folder in folders.all {
            let collection = folder.settings.collection
            let found = try await find(target, in: folder)
            guard let first = found.first else { continue }
            let own = found.filter { $0.origin == chute.device }
            guard !own.isEmpty else {
                let name = try await chute.store.read {
                    try $0.profile(of: first.origin)?.name ?? first.origin.short
                }
                return ["origin": .string(name)]
            }
            let live = own.filter { $0.fields != nil }
            guard !live.isEmpty else {
                return ["name": .bytes(target.bytes), "count": .integer(0)]
            }
            let (names, count) = try await holders(of: live)
            var rest = live[...]
            while !rest.isEmpty {
                let batch = rest.prefix(Self.batchCount).map(\.id)
                rest = rest.dropFirst(batch.count)
                try await chute.store.write { transaction in
                    for id in batch { try transaction.retract(id, in: collection) }
                }
            }
            let path = live.count == 1 ? live[0].fields.flatMap(FileDocument.init)?.joinedPath : nil
            return [
                "name": .bytes((path ?? target).bytes), "count": .integer(Int64(live.count)),
                "had": .integer(Int64(count)), "delivered": .array(names.map { .string($0) }),
            ]
        }
        return [:]
    }

    /// The names of those that have some of these documents, and how many somebody has.
    private func holders(of documents: [OwnedDocument]) async throws -> ([String], Int) {
        try await chute.store.read { snapshot in
            var devices: Set<DeviceID> = []
            var count = 0
            for document in documents {
                let delivered = try snapshot.receipts(for: document)
                    .filter { $0.value.state == .delivered && $0.key != snapshot.device }
                devices.formUnion(delivered.keys)
                count += delivered.isEmpty ? 0 : 1
            }
            let names = try devices.sorted().map { try snapshot.profile(of: $0)?.name ?? $0.short }
            return (names, count)
        }
    }

    private func find(
        _ target: BytePath, in folder: AgentFolders.Opened
    ) async throws -> [OwnedDocument] {
        let collection = folder.settings.collection
        let below = target.relative(to: folder.inbox?.path ?? "/")
        let paths = [below, target.isAbsolute ? nil : target].compactMap { path in
            path.map { BytePath(components: $0.components) }
        }.filter { !$0.isEmpty }
        let root = folder.inbox?.root
        return try await chute.store.read { snapshot in
            if let root {
                for path in paths {
                    if let row = try snapshot.row(InboxRecord.self, folderKey(root, path)),
                        let document = try snapshot.document(row.document, in: collection)
                    {
                        return [document]
                    }
                }
                for path in paths {
                    let own = try snapshot.ownDocuments(at: path, in: collection)
                    if !own.isEmpty { return own }
                }
            }
            guard let text = target.string, text.utf8.count >= 8,
                let prefix = DocumentID(hex: String(text.prefix(text.utf8.count & ~1)))
            else { return [] }
            // The last digit of an odd number of them is half a byte.
            let found = try snapshot.documents(in: collection, idPrefix: prefix.bytes, limit: 32)
                .filter { $0.id.hex.hasPrefix(text.lowercased()) }
            return found.count == 1 ? found : []
        }
    }
}

extension Snapshot {
    /// The newest of this device's live documents that was shared as `path`, or else all that were
    /// shared from below a folder of that path: also what is in the inbox no more.
    fileprivate func ownDocuments(at path: BytePath, in collection: String) throws
        -> [OwnedDocument]
    {
        var (exact, below): (OwnedDocument?, [OwnedDocument]) = (nil, [])
        var after: Int64 = 0
        while true {
            let page = try documents(in: collection, learnedAfter: after, limit: 512)
            guard let last = page.last else { break }
            after = last.learned
            for document in page where document.origin == device {
                guard let file = document.fields.flatMap(FileDocument.init),
                    let rest = file.joinedPath.relative(to: path)
                else { continue }
                if rest.isEmpty { exact = document } else { below.append(document) }
            }
        }
        return exact.map { [$0] } ?? below
    }
}
