import ChuteSystem

/// One connection, from its proofs to its end.
extension Replicator {
    /// Lets a connection prove itself and then live; once it has proved itself the turn in which it
    /// was dialled ends. The device, once it was let in; throws where another attempt soon would be
    /// in vain.
    func converse(
        _ stream: consuming ConnectedStream, side: PeerSession.Side, address dialled: String? = nil,
        turn: UInt64? = nil
    ) async throws -> DeviceID? {
        let session: PeerSession
        let device: DeviceID
        do {
            let address = stream.address
            defer { if !side.isClient { unproved.end(address) } }
            session = try PeerSession(stream, side: side, context: context)
            device = try await prove(session)
        }
        nextNumber += 1
        let number = nextNumber
        guard let rank = running[session.transport]?.transport.rank else {
            await session.end(.transportChanged)
            throw SessionEnd.said(.transportChanged)
        }
        guard network.allows(session.transport, for: device) else {
            await session.end(.transportChanged)
            // Another attempt is made in a while, and other ways are tried.
            throw ChuteError(
                .refused, "\(session.transport) is not among the transports of this peer")
        }
        if let dialled {
            book.note(device, at: dialled)
            // A device has several addresses, all of which are dialled: one connection is enough.
            guard !isDialled(device, byRank: rank), proving[device] ?? .max > rank else {
                await session.end(.duplicateConnection)
                return device
            }
            proving[device] = rank
        }
        let hello: Hello
        do {
            defer { if dialled != nil, proving[device] == rank { proving[device] = nil } }
            do {
                hello = try await withTimeout(Self.proofTimeout) {
                    try await session.exchangeHellos()
                }
            } catch {
                await session.end(Task.isCancelled ? .stopping : .malformed)
                await noteRefusal(by: device, error)
                throw error
            }
            // What has proved itself keeps nobody from dialling.
            if let turn { endTurn(turn) }
            try await askHandler(session, device, hello)
            let entry = SessionRegistry.Entry(
                number: number, dialer: side.isClient ? context.store.device : device,
                instance: hello.instance, rank: rank)
            guard await admit(entry, session, device) else { return device }
            sessions[number] = session
        }
        defer {
            sessions[number] = nil
            registry.remove(number: number, of: device)
            context.presence.fire(.members)
        }
        guard running[session.transport] != nil, network.allows(session.transport, for: device)
        else {
            // It was switched off meanwhile.
            await session.end(.transportChanged)
            throw SessionEnd.said(.transportChanged)
        }
        guard await belongs(device) else {
            // It was removed after it had proved itself.
            let reason = await farewell(to: device)
            await session.end(reason)
            throw SessionEnd.said(reason)
        }
        return try await live(session, number, device, hello, dialled)
    }

    /// Throws where the application does not want this connection.
    private func askHandler(
        _ session: PeerSession, _ device: DeviceID, _ hello: Hello
    ) async throws {
        let request = ConnectionRequest(
            device: device, metadata: metadata(of: hello, session), transport: session.transport,
            address: session.address)
        let answer: ConnectionRequest.Answer
        do { answer = try await context.local.gate.answer(request) } catch {
            await session.end(.stopping)
            throw error
        }
        guard answer == .refuse else { return }
        await session.refuse(.connectionRefused)
        throw SessionEnd.said(.connectionRefused)
    }

    /// What cannot be read, as of a later version, counts as nothing.
    private func metadata(of hello: Hello, _ session: PeerSession) -> Fields {
        do { return try LocalPeer.read(hello.metadata) } catch {
            context.diagnostics.debug("\(session.address): metadata: \(error)")
            return [:]
        }
    }

    private func prove(_ session: PeerSession) async throws -> DeviceID {
        do {
            return try await withTimeout(Self.proofTimeout) { try await session.prove() }
        } catch {
            await session.end(Task.isCancelled ? .stopping : .notMember)
            if let member = await session.pinned { await noteRefusal(by: member, error) }
            throw error
        }
    }

    /// Hears from a member that this device was removed before both were in a session.
    private func noteRefusal(by member: DeviceID, _ error: any Error) async {
        if case .refused(.removed)? = error as? SessionEnd { await noteRemoval(by: member) }
    }

    private func live(
        _ session: PeerSession, _ number: UInt64, _ device: DeviceID, _ hello: Hello,
        _ dialled: String?
    ) async throws -> DeviceID? {
        present[number] = Presence(
            device: device, metadata: metadata(of: hello, session),
            connection: .init(
                transport: session.transport, address: session.address,
                since: StoreWriter.milliseconds() / 1000), dialled: dialled)
        defer { present[number] = nil }
        context.presence.fire(.members)
        await announce(device, session, isConnected: true)
        removers.remove(device)
        let name = await name(of: device)
        let words = "connected to \(name) at \(session.address)"
        // One that refuses is connected to again and again.
        if refusing.contains(device) {
            context.diagnostics.debug(words)
        } else {
            context.diagnostics.notice(words)
        }
        let start = ContinuousClock.now
        var failure: (any Error)?
        do { try await session.run(hello: hello) } catch { failure = error }
        if registry.entries[device]?.number == number {
            await announce(device, session, isConnected: false)
        }
        await noteEnd(of: device, failure)
        guard let failure else { return device }
        // What held for a while and was cut then is worth a quick attempt.
        if let end = failure as? SessionEnd {
            guard end.isPassing else { throw failure }
        } else if ContinuousClock.now - start < Self.longEnough {
            throw failure
        }
        return device
    }

    /// Whether a connection is there that stays beside one of that rank which this device dials.
    private func isDialled(_ device: DeviceID, byRank rank: Int) -> Bool {
        guard let entry = registry.entries[device] else { return false }
        return entry.rank < rank
            || entry.rank == rank && entry.dialer == context.store.device
    }

    /// Whether this device talks to another one. Whoever holds a shared key belongs to its space,
    /// also before its facts came.
    func belongs(_ device: DeviceID) async -> Bool {
        if await context.store.sharedKey != nil { return true }
        let membership = await context.store.membership
        return membership.isMember(device) && membership.mayTalk(context.store.device, device)
    }

    private func admit(
        _ entry: SessionRegistry.Entry, _ session: PeerSession, _ device: DeviceID
    ) async -> Bool {
        // What is registered can be another one after each wait: judged anew until it holds.
        while true {
            let old: UInt64
            switch registry.judge(entry, for: device, own: context.store.device) {
            case .keep:
                registry.add(entry, for: device)
                return true
            case .refuse(let number):
                // One that the peer has given up already is not worth more than a new one.
                if await sessions[number]?.isAlive(within: Self.signOfLifeTimeout) ?? false {
                    await session.end(.duplicateConnection)
                    return false
                }
                old = number
            case .replace(let number): old = number
            case .askFirst(let number):
                if await sessions[number]?.isAlive(within: .seconds(2)) ?? false {
                    let name = await name(of: device)
                    context.diagnostics.warning(
                        "two devices have the key of \(name): one is a copy of "
                            + "the other, and gets a key of its own by chute init --new-device")
                    await session.end(.duplicateDevice)
                    return false
                }
                old = number
            }
            let replaced = sessions[old]
            registry.remove(number: old, of: device)
            await replaced?.end(.duplicateConnection)
        }
    }

    private func announce(_ device: DeviceID, _ session: PeerSession, isConnected: Bool) async {
        do {
            try await context.store.write { transaction in
                try transaction.notePresence(
                    device, isConnected: isConnected, transport: session.transport,
                    address: session.address)
            }
        } catch {
            let name = await name(of: device)
            context.diagnostics.warning("that \(name) came or went was not noted: \(error)")
        }
    }
}
