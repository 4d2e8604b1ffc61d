import ChuteSystem

/// Keeps this device connected to the members of its space: dials, accepts, lets in, sends off.
///
/// ## Concurrency
/// A plain actor that only awaits. Every connection is a child task of `run`.
actor Replicator {
    let context: SessionContext
    let transport: TCPTransport
    let network: Chute.Network
    var registry = SessionRegistry()
    var sessions: [UInt64: PeerSession] = [:]
    var nextNumber: UInt64 = 0
    var unproved = UnprovedConnections()
    /// Devices that are dialled and have not been admitted yet.
    var proving: Set<DeviceID> = []
    var addressOf: [String: DeviceID] = [:]
    private(set) var listenState: ListenState?
    /// The sessions that live, by their numbers.
    var present: [UInt64: Presence] = [:]
    /// Devices that refused the last connection.
    var refusing: Set<DeviceID> = []
    /// The members that said that this device was removed.
    var removers: Set<DeviceID> = []
    private var lastSpace: SpaceID?

    /// What comes in from the outside, and what is asked for by the engine's owner.
    private enum Arrival: Sendable {
        case accepted(Int32, address: String, transport: String)
        case dial(String)
        /// Connections are taken, or cannot be; `nil` where nothing listens.
        case listening(ListenState?)
    }

    private let arrivals = Mailbox<Arrival>()
    /// Fired with `.members`.
    let listenChanges = ChangeSignal()

    static let proofTimeout = Duration.seconds(15)
    /// A connection that lasted less is no success: the pauses before the next ones grow.
    static let longEnough = Duration.seconds(5)

    init(context: SessionContext, network: Chute.Network, isLocalOnly: Bool) {
        self.context = context
        self.network = network
        transport = TCPTransport(
            portRange: network.isPortFixed ? 0 : 100, isLocalOnly: isLocalOnly)
    }

    /// Keeps connected, and fetches, until the stretch is stopped or the task cancelled. Throws
    /// where the store fails.
    nonisolated func replicate(during stretch: SyncSwitch.Stretch) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.run { stretch.begun.open() } }
            if !stretch.isCallers { group.addTask { try await self.announceAddresses() } }
            group.addTask { await self.context.keptFiles.run() }
            group.addTask { try await self.context.fetcher.run() }
            group.addTask { try await self.context.attachments.blobs.upkeep() }
            group.addTask { _ = await stretch.stop.next() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Runs until cancelled, any number of times, once at a time. `begun` is called when listening
    /// was tried and dialling has begun.
    private func run(begun: @escaping @Sendable () -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.watchMembers() }
            for address in network.connect { fixed.insert(address) }
            for address in fixed { dial(address) }
            listen(in: &group)
            while !Task.isCancelled {
                let arrived = await arrivals.next()
                if arrived.isEmpty { break }
                for arrival in arrived {
                    take(arrival, in: &group)
                    if case .listening = arrival { begun() }
                }
            }
            group.cancelAll()  // each session says goodbye
        }
        forget()
    }

    private func listen(in group: inout DiscardingTaskGroup) {
        guard let address = network.listen else { return arrivals.post(.listening(nil)) }
        group.addTask { [transport, arrivals] in
            await transport.listen(at: address) { state in
                arrivals.post(.listening(state))
            } accepted: { stream in
                let (address, name) = (stream.address, stream.transport)
                arrivals.post(
                    .accepted(stream.descriptor.release(), address: address, transport: name))
            }
        }
    }

    /// When all tasks are gone: the next run finds nothing of this one but what was asked to be
    /// dialled.
    private func forget() {
        for case .accepted(let raw, _, _) in arrivals.drain() {
            _ = FileDescriptor(owning: raw)  // closes it
        }
        dialing = []
        published = []
        addressOf = [:]
        listenState = nil
    }

    private(set) var dialing: Set<String> = []
    /// Dialled whatever members publish.
    private var fixed: Set<String> = []
    /// What members publish as their addresses.
    private var published: Set<String> = []
    private static let publishedLimit = 1024

    /// Keeps a connection to an address from now on, or for as long as a member publishes it;
    /// asking twice is asking once.
    func dial(_ address: String, isFixed: Bool = false) {
        if isFixed { fixed.insert(address) }
        guard dialing.insert(address).inserted else { return }
        arrivals.post(.dial(address))
    }

    private func take(_ arrival: Arrival, in group: inout DiscardingTaskGroup) {
        switch arrival {
        case .dial(let address):
            group.addTask { await self.keepConnected(to: address) }
        case .listening(let state): note(state)
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

    private func note(_ state: ListenState?) {
        guard listenState != state else { return }  // it is tried again and again
        listenState = state
        listenChanges.fire(.members)
        if case .waiting(let why)? = state { context.diagnostics.warning("not listening: \(why)") }
    }

    private func keepConnected(to address: String) async {
        var schedule = RetrySchedule()
        var hasSaid = false
        while !Task.isCancelled {
            let start = ContinuousClock.now
            var device: DeviceID?
            do {
                let stream = try await transport.connect(to: address)
                device = try await converse(stream, side: .dialed)
                hasSaid = false
            } catch {
                let words = "no connection to \(address): \(error)"
                // Once until it holds: who asked for this address wants to know. A goodbye is told
                // by `noteEnd`.
                if fixed.contains(address), !hasSaid, !Task.isCancelled, !(error is SessionEnd) {
                    context.diagnostics.notice("\(words); it is tried again and again")
                    hasSaid = true
                } else {
                    context.diagnostics.debug(words)
                }
            }
            await waitWhileConnected(to: address)
            // Two ends that let each other in and end at once, again and again, are no success.
            if device != nil, ContinuousClock.now - start >= Self.longEnough { schedule.reset() }
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
        for await _ in context.presence.updates(of: .members) {
            if registry.entries[device] == nil { return }
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
            let restarts = await context.store.streamRestarts
            for session in sessions.values where await session.streamRestarts != restarts {
                await session.end(.spaceChanged)
            }
            published = Set(
                await knownAddresses(of: membership).prefix(Self.publishedLimit))
            for address in published { dial(address) }
            context.presence.fire(.members)  // names, too
        }
    }

    /// The addresses that members publish of themselves, but own ones.
    private func knownAddresses(of membership: Membership) async -> [String] {
        let devices = membership.members
        do {
            return try await context.reader.read { snapshot in
                try devices.filter { $0 != snapshot.device }
                    .filter { membership.mayTalk(snapshot.device, $0) }
                    .flatMap { try snapshot.profile(of: $0)?.addresses ?? [] }
            }.filter(transport.mayDial)
        } catch {
            context.diagnostics.warning("addresses of members cannot be read: \(error)")
            return []
        }
    }

    var sessionCount: Int { sessions.count }
}
