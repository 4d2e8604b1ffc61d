import ChuteKit

extension AgentFolders {
    /// Lets rest what was under way to outboxes that are not configured any more: nobody would
    /// name it, and the fetcher would ask for it again and again. The rows stay, so that the
    /// outbox asks anew once it is configured again. Durable when it returns.
    func restOthers(_ chute: Chute) async throws {
        let configured = Set(all.compactMap { $0.outbox?.root })
        let others = try await chute.store.read { snapshot in
            try snapshot.rows(FolderRecord.self).filter {
                $0.kind == .outbox && !configured.contains($0.root)
            }.map(\.root)
        }
        guard !others.isEmpty else { return }
        try await chute.store.write { transaction in
            for root in others {
                for state in [DeliveryRecord.State.fetching, .waiting] {
                    let index = DeliveryRecord.stateIndex(root: root, state)
                    let rows = try transaction.rows(
                        DeliveryRecord.self, where: "state", is: index)
                    for var row in rows {
                        guard let want = row.want else { continue }
                        try transaction.unwant(want)
                        row.want = nil
                        try transaction.put(row)
                    }
                }
            }
        }
    }
}
