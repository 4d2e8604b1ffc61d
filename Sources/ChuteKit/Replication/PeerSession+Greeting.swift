import ChuteSystem

/// The hellos, and what follows a joining.
extension PeerSession {
    /// Exchanges the hellos. What the peer says of itself decides whether this connection stays.
    func exchangeHellos() async throws -> Hello {
        guard let peer else { throw WireError.unexpected("a hello before the proof") }
        // One transaction: a cursor is about what was wanted when it was written.
        let (cursor, counter, wanted, restarts) = try await context.store.write { transaction in
            (
                try transaction.cursor(from: peer), try transaction.highestCounter(of: peer),
                transaction.state.subscription, transaction.state.streamRestarts
            )
        }
        (ownSubscription, streamRestarts) = (wanted, restarts)
        let own = Hello(
            instance: context.instance, cursor: cursor, counter: counter,
            clock: StoreWriter.milliseconds(), metadata: context.local.encodedMetadata,
            subscription: try wanted.encoded())
        try channel.send(.hello, own.cbor)
        guard case .known(let type, let payload) = try await channel.next() else {
            throw WireError.unexpected("no hello")
        }
        if type == .goodbye { throw try SessionEnd.refused(reason(payload)) }
        guard type == .hello else { throw WireError.unexpected("a frame before hello") }
        let hello = try Hello(cbor: CBOR.decode(payload))
        noteClock(hello.clock)
        return hello
    }

    /// Compares the peer's clock with this device's; what took the message its way counts little.
    func noteClock(_ milliseconds: UInt64?) {
        guard let milliseconds else { return }
        clockLead = Int64(clamping: milliseconds) - Int64(clamping: StoreWriter.milliseconds())
    }

    /// After joining: takes in the inviter's changes until this device is a member by them.
    func receiveFacts() async throws {
        let hello = try await exchangeHellos()
        try await withTimeout(.seconds(30)) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await self.run(hello: hello)
                    } catch let end as SessionEnd where end.reason == .duplicateConnection {
                        // A dial of this device as a member came first: the facts come by that.
                        try await Task.pause(for: .seconds(30))
                    }
                }
                group.addTask {
                    for await _ in self.context.store.updates(of: .members) {
                        let membership = await self.context.store.membership
                        if membership.isMember(self.context.store.device) { return }
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        guard await context.store.membership.isMember(context.store.device) else {
            throw ChuteError(.refused, "the inviter let this device in, but said nothing of it")
        }
    }
}
