import ChuteSystem

/// Becoming a member by a ticket.
extension Replicator {
    /// Joins the space of a ticket through the first of its addresses that answers.
    ///
    /// The connection stays. Throws `unreachable` with what each address said.
    func join(_ ticket: Ticket) async throws {
        var failures: [String] = []
        let order = JoinOrder(networks: NetworkPrefix.ofInterfaces())
        for address in order.sorted(ticket.addresses) {
            guard let transport = transport(for: address) else {
                failures.append("\(address): no transport that is switched on dials that")
                continue
            }
            let stream: ConnectedStream
            do { stream = try await transport.connect(to: address) } catch {
                failures.append("\(address): \(error)")
                continue
            }
            do {
                try await converse(stream, joining: ticket)
            } catch let end as SessionEnd {
                throw end
            } catch let error as ChuteError where error.code == .alreadyInSpace {
                throw error
            } catch {
                // Another device answers there, or none that speaks this protocol.
                failures.append("\(address): \(error)")
                continue
            }
            removers = []
            dial(address)
            return
        }
        throw ChuteError(
            .unreachable,
            "nobody answers at the ticket's addresses (\(failures.joined(separator: "; "))): is "
                + "the other device on, and is this the same network?", isTransient: true)
    }

    /// Proves with a ticket; only once the inviter let this device in is its space taken over.
    private func converse(_ stream: consuming ConnectedStream, joining ticket: Ticket) async throws
    {
        let session = try PeerSession(stream, side: .joining(ticket), context: context)
        // The next dial is a member's.
        defer { Task(executorPreference: WorkerPool.shared) { await session.end(.spaceChanged) } }
        _ = try await withTimeout(Self.proofTimeout) { try await session.prove() }
        try await context.store.write { try $0.join(ticket) }
        try await session.receiveFacts()
    }
}
