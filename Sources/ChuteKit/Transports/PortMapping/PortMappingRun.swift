import ChuteSystem
import Synchronization

/// Carries out what `PortMappingPlan` decides, for a transport that listens.
struct PortMappingRun: Sendable {
    /// How it is, as others are told of it.
    struct Standing: Hashable, Sendable {
        var words: String?
        var address: String?
        var state: PortMappingState?
    }

    private enum Arrival: Sendable {
        /// The network changed, or where the transport listens.
        case look
        case event(PortMappingPlan.Event)
    }

    private let host: TransportHost
    private let place: ListeningPlace
    private let changed: @Sendable (Standing) -> Void
    private let router = HomeRouter.shared
    private let arrivals = Mailbox<Arrival>()
    private let hasEnded = Flag()
    private let start = ContinuousClock.now

    /// A stop waits so long for the router to forget the port.
    private static let lastWordTimeout = Duration.milliseconds(700)

    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    /// Calls `changed` with how it is, after each change.
    init(
        _ host: TransportHost, _ place: ListeningPlace,
        changed: @escaping @Sendable (Standing) -> Void
    ) {
        self.host = host
        self.place = place
        self.changed = changed
    }

    /// Keeps a port mapped until cancelled, and has the router forget it then.
    func run() async {
        let alarm = Alarm { [arrivals] in arrivals.post(.event(.woken)) }
        var plan = PortMappingPlan()
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in host.networkChanges() { arrivals.post(.look) } }
            group.addTask {
                for await _ in place.changes.updates(of: .members) { arrivals.post(.look) }
            }
            group.addTask {
                for await _ in host.presence.updates(of: .members) {
                    arrivals.post(.event(.connected(await host.connectedDevices())))
                }
            }
            var told = Standing()
            while !Task.isCancelled {
                let arrived = await arrivals.next()
                if arrived.isEmpty { break }
                for arrival in arrived {
                    let event: PortMappingPlan.Event
                    switch arrival {
                    case .look: event = .found(look())
                    case .event(let happened): event = happened
                    }
                    note(event)
                    for effect in plan.handle(event, now: now) { carryOut(effect, in: &group) }
                }
                if let moment = plan.wakeAt {
                    alarm.set(after: max(.zero, moment - now), tolerance: .seconds(1))
                } else {
                    alarm.cancel()
                }
                let standing = Standing(
                    words: plan.words, address: plan.address?.description, state: plan.state)
                if standing != told { changed(standing) }
                told = standing
            }
            group.cancelAll()
        }
        alarm.cancel()
        hasEnded.isSet.withLock { $0 = true }
        // What came between the last look and this.
        for case .event(.answered(_, .success(let late))) in arrivals.drain() { remove(late) }
        if let mapping = plan.mapping { await removeAtEnd(mapping) }
    }

    private var now: Duration { ContinuousClock.now - start }

    /// What a mapping is to be for: an IPv4 port that not only this host reaches, behind a gateway
    /// in a private network.
    private func look() -> PortMappingPlan.Place? {
        guard let own = place.address.withLock({ $0 }), Self.isMappable(own) else { return nil }
        do throws(SystemError) {
            guard let gateway = try DefaultGateway.current(), gateway.isPrivate else { return nil }
            return .init(port: own.port, gateway: gateway)
        } catch {
            host.diagnostics.debug("the default gateway cannot be read: \(error)")
            return nil
        }
    }

    static func isMappable(_ own: SocketAddress) -> Bool {
        if ["::", "0.0.0.0"].contains(own.host) { return true }
        return !own.host.contains(":") && own.isPrivate && !own.isOfThisLink
    }

    private func note(_ event: PortMappingPlan.Event) {
        switch event {
        case .answered(_, .success(let mapping)):
            host.diagnostics.debug(
                "\(mapping.external) of the router is port \(mapping.internalPort) of this device "
                    + "for \(mapping.lease), by \(mapping.method.rawValue)")
        case .answered(_, .failure(let error)):
            host.diagnostics.debug("no port at the router: \(error)")
        case .dialled(let address, let isReached):
            let answer = isReached.map { $0 ? "reach it" : "do not reach it" }
            host.diagnostics.debug(
                "of \(address) connected peers \(answer ?? "say nothing")")
        case .found, .connected, .woken: break
        }
    }

    private func carryOut(_ effect: PortMappingPlan.Effect, in group: inout DiscardingTaskGroup) {
        switch effect {
        case .ask(let place, let external): ask(place, external)
        case .remove(let mapping): remove(mapping)
        case .haveDialled(let address):
            group.addTask {
                let isReached = await host.isReachable(at: address.description)
                arrivals.post(.event(.dialled(address, isReached)))
            }
        }
    }

    private func ask(_ place: PortMappingPlan.Place, _ external: UInt16) {
        // The libraries block for seconds and hear of no cancel, and a stop waits for no router.
        Task(executorPreference: WorkerPool.shared) {
            let result: Result<PortMapping, PortMappingError>
            do throws(PortMappingError) {
                result = .success(
                    try await router.map(place.port, at: place.gateway, preferring: external))
            } catch { result = .failure(error) }
            if hasEnded.isSet.withLock({ $0 }), case .success(let late) = result { remove(late) }
            arrivals.post(.event(.answered(place, result)))
        }
    }

    @discardableResult
    private func remove(_ mapping: PortMapping) -> Task<Void, Never> {
        // As above.
        Task(executorPreference: WorkerPool.shared) {
            do throws(PortMappingError) { try await router.remove(mapping) } catch {
                host.diagnostics.debug("the router keeps \(mapping.external): \(error)")
            }
        }
    }

    private func removeAtEnd(_ mapping: PortMapping) async {
        let done = Gate()
        let removal = remove(mapping)
        // It waits for what may last longer than this call.
        Task(executorPreference: WorkerPool.shared) {
            await removal.value
            done.open()
        }
        let alarm = Alarm { done.open() }
        alarm.set(after: Self.lastWordTimeout)
        await done.wait()
        alarm.cancel()
    }
}
