import ChuteSystem

/// Keeps this device connected to the members of its space: dials, accepts, lets in, sends off.
///
/// ## Concurrency
/// A plain actor that only awaits. Every connection and every transport is a child task of `run`.
actor Replicator {
    let context: SessionContext
    let isLocalOnly: Bool
    var network: Chute.Network
    var registry = SessionRegistry()
    var sessions: [UInt64: PeerSession] = [:]
    var nextNumber: UInt64 = 0
    var unproved = UnprovedConnections()
    /// Devices that are dialled and have not been admitted yet, and by transports of which rank.
    var proving: [DeviceID: Int] = [:]
    /// What is to be dialled.
    var book = DialBook()
    /// Who may open a connection at present, and what those wait for who may not yet.
    var turns = DialTurns()
    var turnGates: [UInt64: Gate] = [:]
    /// The addresses that a task dials now and then.
    var dialing: Set<String> = []
    /// The transports that run, by their names; those that end are gone from it.
    var running: [String: RunningTransport] = [:]
    /// What each transport says of itself, by its name.
    var states: [String: TransportState] = [:]
    /// What works or fails beside them, by the transport that knows it.
    var parts: [String: NetworkParts] = [:]
    /// How often others were asked to dial this device.
    var askedDialBacks = AskedDialBacks()
    let clockStart = ContinuousClock.now
    /// Where each transport says that this device can be dialled.
    var announced: [String: [String]] = [:]
    /// The sessions that live, by their numbers.
    var present: [UInt64: Presence] = [:]
    /// Devices that refused the last connection.
    var refusing: Set<DeviceID> = []
    /// The members that said that this device was removed.
    var removers: Set<DeviceID> = []
    private var lastSpace: SpaceID?
    /// From the start of `run` to its end.
    private(set) var isReplicating = false

    /// What comes in from the outside, and what is asked for by the engine's owner.
    enum Arrival: Sendable {
        case dial(String)
        case start(RunningTransport)
        case report(RunningTransport, TransportHost.Report)
        /// The start has taken long enough: who waits for it goes on.
        case patienceEnded
    }

    let arrivals = Mailbox<Arrival>()
    /// Those that were told to end and have not yet.
    var leaving: [RunningTransport] = []
    /// Fired with `.members` when a transport's state or addresses change.
    let transportChanges = ChangeSignal()
    /// Fired with `.members` when those who pause before they dial shall try at once.
    let dialNow = ChangeSignal()
    /// Fired with `.members` when a transport found addresses that it did not know.
    let foundAnew = ChangeSignal()
    /// How often all were called to try at once.
    var dialCalls = 0
    let networkChanges = NetworkChanges()

    static let proofTimeout = Duration.seconds(15)
    /// A connection that lasted less is no success: the pauses before the next ones grow.
    static let longEnough = Duration.seconds(5)
    /// A start waits no longer for transports to say how they are.
    private static let startPatience = Duration.seconds(2)

    init(context: SessionContext, network: Chute.Network, isLocalOnly: Bool) {
        self.context = context
        self.network = network
        self.isLocalOnly = isLocalOnly
        context.traffic.set(network.limits)
        context.dialingBack.use(network.transports)
    }

    /// Keeps connected, and fetches, until the stretch is stopped or the task cancelled. Throws
    /// where the store fails.
    nonisolated func replicate(during stretch: SyncSwitch.Stretch) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.run { stretch.begun.open() } }
            group.addTask { try await self.announceAddresses() }
            group.addTask { await self.context.keptFiles.run() }
            group.addTask { try await self.context.fetcher.run() }
            group.addTask { try await self.context.attachments.blobs.upkeep() }
            group.addTask { _ = await stretch.stop.next() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Runs until cancelled, any number of times, once at a time. `begun` is called when every
    /// transport was tried and dialling has begun.
    private func run(begun: @escaping @Sendable () -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.watchMembers() }
            group.addTask { await self.networkChanges.run(self.context.diagnostics) }
            group.addTask { await self.checkAfterNetworkChanges() }
            group.addTask { [arrivals] in
                do { try await Task.pause(for: Self.startPatience) } catch { return }
                arrivals.post(.patienceEnded)
            }
            isReplicating = true
            startTransports()
            dialAll()
            var isPatient = true
            while !Task.isCancelled {
                if states.count >= running.count || !isPatient { begun() }
                let arrived = await arrivals.next()
                if arrived.isEmpty { break }
                for arrival in arrived {
                    if case .patienceEnded = arrival { isPatient = false }
                    take(arrival, in: &group)
                }
            }
            group.cancelAll()  // each session says goodbye
        }
        forget()
    }

    /// When all tasks are gone: the next run finds nothing of this one but what was asked to be
    /// dialled.
    private func forget() {
        for arrival in arrivals.drain() {
            switch arrival {
            case .report(_, .accepted(let raw, _, _)):
                _ = FileDescriptor(owning: raw)  // closes it
            case .start(let transport): transport.ended.open()  // it never ran
            case .dial, .report, .patienceEnded: break
            }
        }
        isReplicating = false
        for each in running.values { each.ended.open() }
        dialing = []
        book.forget()
        running = [:]
        states = [:]
        announced = [:]
        parts = [:]
    }

    private func take(_ arrival: Arrival, in group: inout DiscardingTaskGroup) {
        switch arrival {
        case .dial(let address):
            group.addTask { await self.keepConnected(to: address) }
        case .start(let transport):
            let host = host(for: transport)
            group.addTask { await transport.run(host) }
        case .report(let transport, .accepted(let raw, let address, let isDirect)):
            let descriptor = FileDescriptor(owning: raw)
            guard isRunning(transport) else { return }
            guard unproved.begin(address) else {
                context.diagnostics.debug("\(address): too many connections at once")
                return
            }
            let number = descriptor.release()
            let name = transport.transport.name
            group.addTask {
                let stream = ConnectedStream(
                    descriptor: FileDescriptor(owning: number), address: address, transport: name,
                    isDirect: isDirect)
                do {
                    _ = try await self.converse(stream, side: .accepted)
                } catch {
                    self.context.diagnostics.debug("\(address): \(error)")
                }
            }
        case .report(let transport, let report):
            if isRunning(transport) { note(report, of: transport.transport.name) }
        case .patienceEnded: break
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
            book.publish(await knownAddresses(of: membership))
            dialAll()
            context.presence.fire(.members)  // names, too
        }
    }

    /// The addresses that other members publish of themselves.
    private func knownAddresses(
        of membership: Membership
    ) async -> [(device: DeviceID, addresses: [String])] {
        let devices = membership.members.sorted()
        do {
            return try await context.reader.read { snapshot in
                // Who only sends dials owners itself, and has nobody dial for it.
                try devices.filter { $0 != snapshot.device && membership.role(of: $0) != .sender }
                    .filter { membership.mayTalk(snapshot.device, $0) }
                    .map { ($0, try snapshot.profile(of: $0)?.addresses ?? []) }
            }
        } catch {
            context.diagnostics.warning("addresses of members cannot be read: \(error)")
            return []
        }
    }

    var sessionCount: Int { sessions.count }

    var connectedDevices: Set<DeviceID> { Set(registry.entries.keys) }

    /// Those with a connection that is as good as one of that rank would be.
    func connectedDevices(byRank rank: Int) -> Set<DeviceID> {
        connectedDevices.filter { isConnected($0, byRank: rank) }
    }
}
