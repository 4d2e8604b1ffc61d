import ChuteKit
import ChuteSystem

/// Which names a file gets, and which folder a peer.
extension OutboxWriter {
    /// The names that the layout gives a file; `nil` where one of them is refused.
    func components(
        for file: FileDocument, _ document: OwnedDocument, _ place: Place
    ) async throws -> [[UInt8]]? {
        let values = OutboxLayout.Values(
            peer: try await name(of: document.origin) ?? Array(document.origin.short.utf8),
            path: file.path,
            type: Array((MIMEType(file.type)?.type ?? "application").utf8),
            collection: Array(folder.collection.utf8), date: CalendarDate(file.modified),
            fallback: Array(document.origin.short.utf8))
        let naming = OutboxNaming(isPortable: place.publisher.kind.isFolding)
        do throws(OutboxNaming.Refusal) { return try naming.name(layout.expand(values)) } catch {
            return nil
        }
    }

    private func name(of peer: DeviceID) async throws -> [UInt8]? {
        if let known = peerNames[peer] { return known }
        let key = folderKey(root) + peer.digest.bytes
        let name = try await chute.store.read { try $0.row(PeerFolderRecord.self, key)?.name }
        peerNames[peer] = name
        return name
    }

    /// Finds the rows of fetched wants, and binds the folder name of each peer at first sight.
    func namePeers(
        of outcomes: [FetchOutcome]
    ) async throws -> [(FetchOutcome, DeliveryRecord, OwnedDocument)] {
        let (root, collection) = (root, folder.collection)
        let (found, unnamed) = try await chute.store.read { snapshot in
            var found: [(FetchOutcome, DeliveryRecord, OwnedDocument)] = []
            var origins: Set<DeviceID> = []
            var unnamed: Set<DeviceID> = []
            for outcome in outcomes {
                guard let record = try snapshot.delivery(of: outcome.want),
                    let document = try snapshot.document(record.document, in: collection),
                    document.versionID == record.versionID
                else { continue }
                found.append((outcome, record, document))
                guard origins.insert(document.origin).inserted else { continue }
                let key = folderKey(root) + document.origin.digest.bytes
                if try snapshot.row(PeerFolderRecord.self, key) == nil {
                    unnamed.insert(document.origin)
                }
            }
            return (found, unnamed.sorted())
        }
        if !unnamed.isEmpty {
            try await chute.store.write { transaction in
                for device in unnamed { try Self.bindName(of: device, root, transaction) }
            }
        }
        return found
    }

    private static func bindName(
        of device: DeviceID, _ root: Int64, _ transaction: Transaction
    ) throws {
        let given = try transaction.profile(of: device)?.name ?? ""
        let name = given.isEmpty ? Array(device.short.utf8) : Array(given.utf8)
        var number = 1
        while true {
            let candidate = OutboxNaming.candidate(name, number, isFolder: true)
            let index = folderKey(root) + candidate
            let taken = try transaction.rows(
                PeerFolderRecord.self, where: "name", is: index, limit: 1)
            if taken.isEmpty {
                return try transaction.put(
                    PeerFolderRecord(root: root, device: device, name: candidate))
            }
            number += 1
        }
    }
}
