import ChuteSystem

/// Becoming a member by a ticket.
extension Replicator {
    /// Joins the space of a ticket through the first of its addresses that answers.
    ///
    /// The connection stays. Throws `unreachable` with what each address said. Takes no longer than
    /// `joinTimeout` until something answers: who waits for a command wants to know.
    func join(_ ticket: Ticket) async throws {
        var failures: [String] = []
        let order = JoinOrder(networks: NetworkPrefix.ofInterfaces())
        let end = ContinuousClock.now + Self.joinTimeout
        var rest = order.sorted(ticket.addresses)[...]
        while let address = rest.popFirst() {
            let left = end - ContinuousClock.now
            guard left > .zero else {
                failures.append("\(rest.count + 1) more were not tried")
                break
            }
            guard let transport = transport(for: address) else {
                failures.append("\(address): no transport that is switched on dials that")
                continue
            }
            do {
                // Where nobody is, nothing answers: others may.
                let limit = rest.isEmpty ? Self.connectTimeout : Self.shortConnectTimeout
                try await join(ticket, at: address, by: transport, within: min(limit, left))
            } catch let end as SessionEnd {
                throw end
            } catch let error as ChuteError where error.code == .alreadyInSpace {
                throw error
            } catch {
                // Nobody answers there, another device, or none that speaks this protocol.
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

    private static let joinTimeout = Duration.seconds(40)
    private static let connectTimeout = Duration.seconds(10)
    private static let shortConnectTimeout = Duration.seconds(3)

    /// Where many join at once the inviter hangs up on some: these come again.
    private func join(
        _ ticket: Ticket, at address: String, by transport: any StreamTransport,
        within limit: Duration
    ) async throws {
        var pauses = [Duration.milliseconds(300), .seconds(1), .seconds(2)][...]
        while true {
            do {
                return try await converse(
                    Self.connect(to: address, by: transport, within: limit), joining: ticket)
            } catch let error as ChuteError where error.code == .refused {
                guard let pause = pauses.popFirst() else { throw error }
                context.diagnostics.debug("\(address): \(error)")
                try await Task.pause(for: pause)
            }
        }
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
