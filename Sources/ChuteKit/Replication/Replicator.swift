import ChuteSystem

/// Keeps this device connected to the members of its space: dials, accepts, lets in, sends off.
///
/// ## Concurrency
/// A plain actor that only awaits. Every connection is a child task of `run`.
actor Replicator {
    let context: SessionContext
    let transport: TCPTransport
    private let listen: String?
    private let connect: [String]
    var registry = SessionRegistry()
    var sessions: [UInt64: PeerSession] = [:]
    var nextNumber: UInt64 = 0
    var unproved = UnprovedConnections()
    /// Devices that are dialled and have not been admitted yet.
    var proving: Set<DeviceID> = []
    var addressOf: [String: DeviceID] = [:]
    private(set) var listenState: ListenState?
    /// The members that said that this device was removed.
    var removers: Set<DeviceID> = []
    private var lastSpace: SpaceID?

    /// What comes in from the outside, and what is asked for by the engine's owner.
    private enum Arrival: Sendable {
        case accepted(Int32, address: String, transport: String)
        case dial(String)
    }

    private let arrivals = Mailbox<Arrival>()
    let disconnects = ChangeSignal()

    static let proofTimeout = Duration.seconds(15)
    /// A connection that lasted less is no success: the pauses before the next ones grow.
    static let longEnough = Duration.seconds(5)

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
    func dial(_ address: String, isFixed: Bool = false) {
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
            let start = ContinuousClock.now
            var device: DeviceID?
            do {
                let stream = try await transport.connect(to: address)
                device = try await converse(stream, side: .dialed)
            } catch {
                context.diagnostics.debug("\(address): \(error)")
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
        for await _ in disconnects.updates(of: .members) {
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
}
