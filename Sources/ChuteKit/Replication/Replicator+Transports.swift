import ChuteSystem

/// The transports that run, and what they say.
extension Replicator {
    /// Exchanges the transports and limits. Those that stay as they are go on; the others end
    /// first, with their connections.
    func reconfigure(_ network: Chute.Network) async {
        guard network != self.network else { return }
        self.network = network
        context.traffic.set(network.limits)
        context.dialingBack.use(network.transports)
        let kept = Set(network.transports.map { AnyHashable($0) })
        let ending = running.values.filter { !kept.contains(AnyHashable($0.transport)) }
        guard isReplicating else { return }
        for old in ending {
            let name = old.transport.name
            running[name] = nil
            states[name] = nil
            announced[name] = nil
            parts[name] = nil
            book.find([], by: name)
            old.stop.open()
            leaving.append(old)
        }
        // Also those that another call ends: their ports are taken until then.
        for old in leaving { await old.ended.wait() }
        leaving.removeAll(where: \.hasEnded)
        // Meanwhile all may have been stopped, or exchanged once more.
        guard isReplicating, network == self.network else { return }
        startTransports()
        for (number, presence) in present {
            let isOff = ending.contains { $0.transport.name == presence.connection.transport }
            let isWanted = presence.dialled.map(book.wants) ?? true
            let isAllowed = network.allows(
                presence.connection.transport, for: presence.device)
            if isOff || !isWanted || !isAllowed { await sessions[number]?.end(.transportChanged) }
        }
        dialAll()
        dialAtOnce()
        context.presence.fire(.members)
        transportChanges.fire(.members)
    }

    /// Starts those that are chosen and do not run.
    func startTransports() {
        book.chosen = Set(network.transports.flatMap(\.connect))
        for transport in network.transports where running[transport.name] == nil {
            let started = RunningTransport(transport)
            running[transport.name] = started
            arrivals.post(.start(started))
        }
    }

    func isRunning(_ transport: RunningTransport) -> Bool {
        running[transport.transport.name] === transport
    }

    func host(for transport: RunningTransport) -> TransportHost {
        TransportHost(
            transport: transport.transport.name, diagnostics: context.diagnostics,
            tell: { [arrivals] report in
                // Nobody reads what comes after its end.
                if case .accepted(let raw, _, _) = report, transport.hasEnded {
                    _ = FileDescriptor(owning: raw)  // closes it
                    return
                }
                arrivals.post(.report(transport, report))
            },
            makeDiscoveries: { [context] in context.discoveries() }, network: networkChanges,
            presence: context.presence,
            connectedDevices: { [weak self] in await self?.connectedDevices ?? [] },
            devicesByRank: { [weak self] in await self?.connectedDevices(byRank: $0) ?? [] },
            lookers: { [weak self] in await self?.lookers(at: $0) ?? [:] })
    }

    func note(_ report: TransportHost.Report, of name: String) {
        switch report {
        case .state(let state):
            guard states[name] != state else { return }  // it is tried again and again
            states[name] = state
            switch state {
            case .running(let words):
                context.diagnostics.debug("\(name) runs\(words.map { ": \($0)" } ?? "")")
            case .waiting(let why): context.diagnostics.notice("\(name) waits: \(why)")
            case .impossible(let why):
                context.diagnostics.warning("\(name) is not possible here: \(why)")
            }
        case .announced(let addresses):
            guard announced[name] != addresses else { return }
            announced[name] = addresses
        case .portMapping(let mapping): parts[name, default: NetworkParts()].portMapping = mapping
        case .multicastSpeaker(let speaker):
            parts[name, default: NetworkParts()].multicastSpeaker = speaker
        case .found(let peers):
            // Of all who pause only those who dial such an address try again: whoever makes noise
            // on a link would disturb all dialling otherwise.
            if book.find(peers, by: name) { foundAnew.fire(.members) }
            dialAll()
            return
        case .accepted: return
        }
        transportChanges.fire(.members)
    }

    /// What went by an interface or address that is gone would be noticed late otherwise.
    nonisolated func checkAfterNetworkChanges() async {
        var isFirst = true
        for await _ in networkChanges.updates() {
            if !isFirst { await lookAfterChange() }
            isFirst = false
        }
    }

    static let signOfLifeTimeout = Duration.seconds(3)

    private func lookAfterChange() async {
        dialAtOnce()
        let sessions = sessions.values
        await withDiscardingTaskGroup { group in
            for session in sessions {
                group.addTask {
                    let isAlive = await session.isAlive(within: Self.signOfLifeTimeout)
                    // Who stops says so itself, and did not wait for an answer.
                    guard !isAlive, !Task.isCancelled else { return }
                    await session.end(.silent)
                }
            }
        }
        dialAtOnce()
    }
}

extension SessionContext {
    /// By what members recognise each other, now and after each change.
    fileprivate func discoveries() -> AsyncStream<Discovery?> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Discovery?.self, bufferingPolicy: .bufferingNewest(1))
        let updates = store.updates(of: .members)
        // The stream outlives this call; dropping it cancels the task.
        let task = Task(executorPreference: WorkerPool.shared) {
            var last: Discovery??
            for await _ in updates {
                let discovery = await discovery()
                if last != .some(discovery) { continuation.yield(discovery) }
                last = discovery
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private func discovery() async -> Discovery? {
        let (sharedKey, membership) = (await store.sharedKey, await store.membership)
        let key: [UInt8]
        if let sharedKey {
            key = sharedKey.discoveryKey
        } else if let nonce = membership.foundingNonce {
            key = await store.space.discoveryKey(nonce: nonce)
        } else {
            return nil
        }
        let own = store.device
        return Discovery(
            key: key, isOpen: sharedKey != nil, device: own,
            members: Set(membership.members.filter { $0 != own && membership.mayTalk(own, $0) }))
    }
}
