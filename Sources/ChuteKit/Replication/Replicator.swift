import ChuteSystem

/// Keeps this device connected to the members of its space: dials, accepts, lets in, sends off.
///
/// ## Concurrency
/// A plain actor that only awaits. Every connection is a child task of `run`.
actor Replicator {
    let context: SessionContext
    private let transport: TCPTransport
    private let listen: String?
    private let connect: [String]
    private var registry = SessionRegistry()
    private var sessions: [UInt64: PeerSession] = [:]
    private var nextNumber: UInt64 = 0
    private var unproved = UnprovedConnections()
    /// Devices that are dialled and have not been admitted yet.
    private var proving: Set<DeviceID> = []
    private var addressOf: [String: DeviceID] = [:]
    private(set) var listenState: ListenState?
    /// Who said that this device was removed; `nil` for one that was not known.
    var removers: Set<DeviceID?> = []
    private var lastSpace: SpaceID?

    /// What comes in from the outside, and what is asked for by the engine's owner.
    private enum Arrival: Sendable {
        case accepted(Int32, address: String, transport: String)
        case dial(String)
    }

    private let arrivals = Mailbox<Arrival>()
    private let disconnects = ChangeSignal()

    private static let proofTimeout = Duration.seconds(15)
    private static let answerTimeout = Duration.seconds(30)
    /// A connection that lasted less is no success: the pauses before the next ones grow.
    private static let longEnough = Duration.seconds(5)

    init(context: SessionContext, listen: String?, isPortFixed: Bool, connect: [String]) {
        self.context = context
        self.listen = listen
        self.connect = connect
        transport = TCPTransport(portRange: isPortFixed ? 0 : 100)
    }

    /// Runs until cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.watchMembers() }
            if let listen {
                group.addTask { [transport, arrivals] in
                    await transport.listen(at: listen) { state in
                        // A callback that may not wait.
                        Task(executorPreference: WorkerPool.shared) { await self.note(state) }
                    } accepted: { stream in
                        let (address, name) = (stream.address, stream.transport)
                        arrivals.post(
                            .accepted(
                                stream.descriptor.release(), address: address, transport: name))
                    }
                }
            }
            for address in connect { dial(address, isFixed: true) }
            while !Task.isCancelled {
                let arrived = await arrivals.next()
                if arrived.isEmpty { break }
                for arrival in arrived { take(arrival, in: &group) }
            }
            group.cancelAll()
            for session in sessions.values { await session.end(.stopping) }
            for case .accepted(let raw, _, _) in arrivals.drain() {
                _ = FileDescriptor(owning: raw)  // closes it
            }
        }
    }

    private(set) var dialing: Set<String> = []
    /// Dialled whatever members publish.
    private var fixed: Set<String> = []
    /// What members publish as their addresses.
    private var published: Set<String> = []
    private static let publishedLimit = 1024

    /// Keeps a connection to an address from now on, or for as long as a member publishes it;
    /// asking twice is asking once.
    private func dial(_ address: String, isFixed: Bool = false) {
        if isFixed { fixed.insert(address) }
        guard dialing.insert(address).inserted else { return }
        arrivals.post(.dial(address))
    }

    private func take(_ arrival: Arrival, in group: inout DiscardingTaskGroup) {
        switch arrival {
        case .dial(let address):
            group.addTask { await self.keepConnected(to: address) }
        case .accepted(let raw, let address, let transport):
            let descriptor = FileDescriptor(owning: raw)
            guard unproved.begin(address) else {
                context.diagnostics.debug("\(address): too many connections at once")
                return
            }
            let number = descriptor.release()
            group.addTask {
                let stream = ConnectedStream(
                    descriptor: FileDescriptor(owning: number), address: address,
                    transport: transport)
                do {
                    _ = try await self.converse(stream, side: .accepted)
                } catch {
                    self.context.diagnostics.debug("\(address): \(error)")
                }
            }
        }
    }

    private func note(_ state: ListenState) {
        guard listenState != state else { return }  // it is tried again and again
        listenState = state
        if case .waiting(let why) = state { context.diagnostics.warning("not listening: \(why)") }
    }

    private func keepConnected(to address: String) async {
        var schedule = RetrySchedule()
        while !Task.isCancelled {
            do {
                let stream = try await transport.connect(to: address)
                let device = try await converse(stream, side: .dialed)
                if device != nil { schedule.reset() }
            } catch {
                context.diagnostics.debug("\(address): \(error)")
                if case .refused(.removed)? = error as? SessionEnd {
                    let known = addressOf[address]
                    await noteRemoval(by: known == nil ? deviceAt(address) : known)
                }
            }
            await waitWhileConnected(to: address)
            guard fixed.contains(address) || published.contains(address) else { break }
            let pause = schedule.next(random: Double.random(in: 0..<1))
            do { try await Task.pause(for: pause) } catch { return }
        }
        dialing.remove(address)
        addressOf[address] = nil
    }

    /// While the device that was found at an address is connected some way, nobody dials it.
    private func waitWhileConnected(to address: String) async {
        guard let device = addressOf[address], registry.entries[device] != nil else { return }
        for await _ in disconnects.updates(of: .members) {
            if registry.entries[device] == nil { return }
        }
    }

    /// Joins the space of a ticket through the first of its addresses that answers.
    ///
    /// The connection stays. Throws `unreachable` with what each address said.
    func join(_ ticket: Ticket) async throws {
        var failures: [String] = []
        for address in ticket.addresses {
            let stream: ConnectedStream
            do { stream = try await transport.connect(to: address) } catch {
                failures.append("\(address): \(error)")
                continue
            }
            do {
                try await converse(stream, joining: ticket)
            } catch let end as SessionEnd {
                throw ChuteError(.refused, end.reason.whyNoEntry, cause: end)
            } catch let error as ChuteError where error.code == .alreadyInSpace {
                throw error
            } catch {
                // Another device answers there, or none that speaks this protocol.
                failures.append("\(address): \(error)")
                continue
            }
            removers = []
            addressOf[address] = ticket.inviter
            dial(address, isFixed: true)
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

    /// Lets a connection prove itself and then live. The device, once it was let in; throws
    /// where another attempt soon would be in vain.
    private func converse(
        _ stream: consuming ConnectedStream, side: PeerSession.Side
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
        if side.isClient {
            addressOf[session.address] = device
            // A device has several addresses, all of which are dialled: one connection is enough.
            guard !isDialed(device), proving.insert(device).inserted else {
                await session.end(.duplicateConnection)
                return device
            }
        }
        let hello: Hello
        do {
            defer { if side.isClient { proving.remove(device) } }
            do {
                hello = try await withTimeout(Self.proofTimeout) {
                    try await session.exchangeHellos()
                }
            } catch {
                await session.end(.malformed)
                throw error
            }
            let entry = SessionRegistry.Entry(
                number: number, dialer: side.isClient ? context.store.device : device,
                instance: hello.instance)
            guard await admit(entry, session, device) else { return device }
            sessions[number] = session
        }
        defer {
            sessions[number] = nil
            registry.remove(number: number, of: device)
            disconnects.fire(.members)
        }
        guard await belongs(device) else {
            // It was removed after it had proved itself.
            let reason = await farewell(to: device)
            await session.end(reason)
            throw SessionEnd.said(reason)
        }
        return try await live(session, number, device, hello)
    }

    private func prove(_ session: PeerSession) async throws -> DeviceID {
        do {
            return try await withTimeout(Self.proofTimeout) { try await session.prove() }
        } catch {
            await session.end(.notMember)
            throw error
        }
    }

    private func live(
        _ session: PeerSession, _ number: UInt64, _ device: DeviceID, _ hello: Hello
    ) async throws -> DeviceID {
        await announce(device, session, isConnected: true)
        removers.remove(device)
        let name = await name(of: device)
        context.diagnostics.notice("connected to \(name) at \(session.address)")
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

    private func isDialed(_ device: DeviceID) -> Bool {
        registry.entries[device]?.dialer == context.store.device
    }

    /// Whoever holds a shared key belongs to its space, also before its facts came.
    private func belongs(_ device: DeviceID) async -> Bool {
        if await context.store.sharedKey != nil { return true }
        return await context.store.membership.isMember(device)
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
            case .refuse:
                await session.end(.duplicateConnection)
                return false
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

    /// Ends sessions of devices that are no members any more, also while they are connected.
    private func watchMembers() async {
        for await _ in context.store.updates(of: .members) {
            let membership = await context.store.membership
            let space = await context.store.space
            if space != lastSpace { removers = [] }
            lastSpace = space
            for (device, entry) in registry.entries where !(await belongs(device)) {
                await sessions[entry.number]?.end(farewell(to: device))
            }
            published = Set(
                await knownAddresses(of: membership).prefix(Self.publishedLimit))
            for address in published { dial(address) }
        }
    }

    /// The addresses that members publish of themselves, but own ones.
    private func knownAddresses(of membership: Membership) async -> [String] {
        let devices = membership.members
        do {
            return try await context.reader.read { snapshot in
                try devices.filter { $0 != snapshot.device }
                    .flatMap { try snapshot.profile(of: $0)?.addresses ?? [] }
            }
        } catch {
            context.diagnostics.warning("addresses of members cannot be read: \(error)")
            return []
        }
    }

    var sessionCount: Int { sessions.count }

    /// Which of `devices` say now that they have which of `attachments` in a kept folder.
    func keepers(
        of attachments: [AttachmentID], among devices: Set<DeviceID>
    ) async -> [AttachmentID: Set<DeviceID>] {
        let asked = registry.entries.compactMap { device, entry in
            devices.contains(device) ? sessions[entry.number].map { (device, $0) } : nil
        }
        return await withTaskGroup(of: (DeviceID, Set<AttachmentID>).self) { group in
            for (device, session) in asked {
                group.addTask {
                    do {
                        return try await withTimeout(Self.answerTimeout) {
                            (device, await session.confirm(attachments))
                        }
                    } catch {
                        return (device, [])  // no answer is no word
                    }
                }
            }
            var keepers: [AttachmentID: Set<DeviceID>] = [:]
            for await (device, kept) in group {
                for attachment in kept { keepers[attachment, default: []].insert(device) }
            }
            return keepers
        }
    }

    /// By how many milliseconds the clocks of connected devices are ahead of this one's.
    func clockLeads() async -> [DeviceID: Int64] {
        var leads: [DeviceID: Int64] = [:]
        for (device, entry) in registry.entries {
            leads[device] = await sessions[entry.number]?.clockLead
        }
        return leads
    }
}

/// Runs `body`, cancelled and given up after `limit`.
func withTimeout<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.pause(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else {
            throw ChuteError(.unreachable, "no answer within \(limit)", isTransient: true)
        }
        return result
    }
}
