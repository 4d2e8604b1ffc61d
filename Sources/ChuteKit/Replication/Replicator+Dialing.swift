import ChuteSystem

/// Keeping a connection to each address that is wanted.
extension Replicator {
    /// Between two attempts where many addresses take turns.
    private static let turnPause = Duration.seconds(1)

    /// Keeps a connection to an address from now on; asking twice is asking once.
    func dial(_ address: String) {
        book.asked.insert(address)
        dialAll()
    }

    /// Begins to dial whatever is wanted and can be dialled, where nobody does so yet.
    func dialAll() {
        for address in book.all
        where !dialing.contains(address) && transport(for: address) != nil {
            dialing.insert(address)
            arrivals.post(.dial(address))
        }
    }

    /// The transport by which an address is dialled; `nil` where none can.
    func transport(for address: String) -> (any StreamTransport)? {
        network.transports.first { $0.canDial(address) }
    }

    /// Has everybody who pauses try again, without a pause that has grown.
    func dialAtOnce() {
        dialCalls += 1
        dialNow.fire(.members)
    }

    func keepConnected(to address: String) async {
        var schedule = RetrySchedule()
        var hasSaid = false
        while !Task.isCancelled, book.wants(address), let transport = transport(for: address) {
            schedule.pauses = transport.retryPauses
            await waitWhileConnected(to: address, by: transport)
            guard !Task.isCancelled, book.wants(address) else { break }
            let turn = await awaitTurn(to: address)
            defer { endTurn(turn) }
            // It may have been a while.
            guard !Task.isCancelled, book.wants(address) else { break }
            if isReached(address, by: transport) { continue }
            let (start, calls) = (ContinuousClock.now, dialCalls)
            _ = book.takeFresh(address)
            var device: DeviceID?
            do {
                let stream = try await connect(to: address, by: transport)
                device = try await converse(
                    stream, side: .dialed, address: address, turn: turn)
                hasSaid = false
            } catch {
                let words = "no connection to \(address): \(error)"
                // Once until it holds: who asked for this address wants to know. A goodbye is told
                // by `noteEnd`.
                if book.isInsisted(on: address), !hasSaid, !Task.isCancelled,
                    !(error is SessionEnd)
                {
                    context.diagnostics.notice("\(words); it is tried again and again")
                    hasSaid = true
                } else {
                    context.diagnostics.debug(words)
                }
            }
            endTurn(turn)
            await waitWhileConnected(to: address, by: transport)
            // Two ends that let each other in and end at once, again and again, are no success.
            if device != nil, ContinuousClock.now - start >= Self.longEnough { schedule.reset() }
            guard book.wants(address) else { break }
            if dialCalls != calls { schedule.reset() }
            var pause = schedule.next(random: Double.random(in: 0..<1))
            // Where many take turns, each new one would begin with the quick attempts.
            if book.isAwaited(at: address) { pause = max(pause, Self.turnPause) }
            if await isWoken(within: pause, to: address) {
                schedule.reset()
            } else if device == nil {
                book.giveWay(at: address)
                dialAll()
            }
        }
        dialing.remove(address)
        book.note(nil, at: address)
    }

    /// Returns when the address may be dialled, or once the task is cancelled. Ends with `endTurn`.
    private func awaitTurn(to address: String) async -> UInt64 {
        let turn = turns.ask(for: book.party(at: address))
        let gate = Gate()
        turnGates[turn] = gate
        openTurns()
        await withTaskCancellationHandler {
            await gate.wait()
        } onCancel: {
            gate.open()
        }
        return turn
    }

    /// Lets others dial. Saying so twice is saying it once.
    func endTurn(_ turn: UInt64) {
        turns.end(turn)
        turnGates[turn] = nil
        openTurns()
    }

    private func openTurns() {
        while let next = turns.next() { turnGates[next]?.open() }
    }

    /// While the device that is at an address is connected by a transport that is as good, nobody
    /// dials it.
    private func waitWhileConnected(to address: String, by transport: any StreamTransport) async {
        guard isReached(address, by: transport) else { return }
        for await _ in context.presence.updates(of: .members) {
            if !isReached(address, by: transport) { return }
        }
    }

    private func isReached(_ address: String, by transport: any StreamTransport) -> Bool {
        guard book.wants(address) else { return false }
        let devices = book.devices(at: address)
        return !devices.isEmpty
            && devices.allSatisfy { isConnected($0, byRank: transport.rank) }
    }

    /// Whether there is a connection that is as good as one of that rank would be.
    func isConnected(_ device: DeviceID, byRank rank: Int) -> Bool {
        registry.entries[device].map { $0.rank <= rank } ?? false
    }

    /// Connects. Gives up where something happens for which a new attempt is better: what was sent
    /// into a network that was not there is sent again only after a while.
    private func connect(
        to address: String, by transport: any StreamTransport
    ) async throws -> ConnectedStream {
        let changed = ChuteError(
            .unreachable, "the network changed while it was dialled", isTransient: true)
        return try await Self.connect(
            to: address, by: transport,
            unless: { [dialNow] in
                await Self.isCalled(dialNow)
                return changed
            },
            {
                await self.isFoundAnew(address)
                return changed
            })
    }

    /// Connects within `limit`.
    static func connect(
        to address: String, by transport: any StreamTransport, within limit: Duration
    ) async throws -> ConnectedStream {
        try await connect(
            to: address, by: transport,
            unless: {
                try await Task.pause(for: limit)
                return ChuteError(
                    .unreachable, "no answer within \(limit.components.seconds) s",
                    isTransient: true)
            })
    }

    /// A stream on its way out of a task group, through which it cannot go itself.
    private struct Connected: Sendable {
        let raw: Int32
        let address: String
        let isDirect: Bool
    }

    /// Connects, or throws what the first of `reasons` returns.
    private static func connect(
        to address: String, by transport: any StreamTransport,
        unless reasons: (@Sendable () async throws -> ChuteError)...
    ) async throws -> ConnectedStream {
        let connected = try await withThrowingTaskGroup(of: Connected.self) { group in
            group.addTask {
                let stream = try await transport.connect(to: address)
                let (address, isDirect) = (stream.address, stream.isDirect)
                return Connected(
                    raw: stream.descriptor.release(), address: address, isDirect: isDirect)
            }
            for reason in reasons { group.addTask { throw try await reason() } }
            let first = await group.nextResult()
            group.cancelAll()
            if case .success(let stream)? = first { return stream }
            while let late = await group.nextResult() {
                if case .success(let stream) = late { return stream }
            }
            guard case .failure(let error)? = first else { throw CancellationError() }
            throw error
        }
        return ConnectedStream(
            owning: connected.raw, address: connected.address, transport: transport.name,
            isDirect: connected.isDirect)
    }

    /// Returns when those who pause are to try again, or once it is cancelled.
    private static func isCalled(_ dialNow: ChangeSignal) async {
        var isFirst = true  // says that it listens, and no more
        for await _ in dialNow.updates(of: .members) {
            if !isFirst { return }
            isFirst = false
        }
    }

    /// Pauses; `true` where something happened meanwhile for which to try at once.
    private func isWoken(within pause: Duration, to address: String) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { [dialNow] in
                await Self.isCalled(dialNow)
                return true
            }
            group.addTask {
                await self.isFoundAnew(address)
                return true
            }
            group.addTask {
                do { try await Task.pause(for: pause) } catch { return false }
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// Returns when the address is found anew, or once the task is cancelled.
    private func isFoundAnew(_ address: String) async {
        for await _ in foundAnew.updates(of: .members) where book.takeFresh(address) { return }
    }
}
