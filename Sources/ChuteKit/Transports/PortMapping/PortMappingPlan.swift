import ChuteSystem

/// Decides when a home router is asked to pass a port on, and when its address may be told to
/// others: once a connected device has dialled it. A value without I/O or clock.
struct PortMappingPlan {
    /// What a mapping is wanted for.
    struct Place: Hashable, Sendable {
        /// Where this device listens.
        let port: UInt16
        let gateway: DefaultGateway
    }

    enum Event: Sendable {
        /// This is the place, as the network is at this moment; `nil` for none.
        case found(Place?)
        case answered(Place, Result<PortMapping, PortMappingError>)
        /// Whether connected devices reach an address; `nil` where nobody looked.
        case dialled(SocketAddress, Bool?)
        case connected(Set<DeviceID>)
        case woken
    }

    enum Effect: Hashable, Sendable {
        /// Ask the router, preferring an outer port.
        case ask(Place, external: UInt16)
        case remove(PortMapping)
        case haveDialled(SocketAddress)
    }

    private(set) var mapping: PortMapping?
    private var place: Place?
    private var isAsking = false
    private var failure: PortMappingError?
    private var failureCount = 0
    private var lastAsked: Duration?
    /// When the router is asked again; `nil` where it is not to be.
    private var askAt: Duration?
    private var mappedUntil = Duration.zero

    private var connected: Set<DeviceID> = []
    private var isVerified = false
    private var isDialling = false
    /// How often connected devices were asked, and how often one said that it does not reach it.
    private var dialCount = 0
    private var vainCount = 0
    private var dialAt: Duration?

    /// After failures the router is asked after these pauses, the last one again and again.
    static let askPauses: [Duration] = [.seconds(30), .seconds(120), .seconds(600)]
    /// An address that nobody reached is tried after these pauses; the first one is for devices
    /// that have just come and do not listen to questions yet.
    static let dialPauses: [Duration] = [
        .seconds(1), .seconds(15), .seconds(60), .seconds(300),
    ]
    /// A network that changes again and again has the router asked no more often.
    static let leastPause = Duration.seconds(10)

    /// The router's address that others may be told.
    var address: SocketAddress? { isVerified ? mapping?.external : nil }

    /// How it is, for people; `nil` where there is nothing to say.
    var words: String? {
        if let mapping {
            let what = "\(mapping.external) by the router"
            if isVerified { return what }
            return vainCount > 0
                ? "\(what), where no peer gets through" : "\(what), which no peer has tried yet"
        }
        return failure.map { "no port at the router: \($0)" }
    }

    /// How it is, for programs; `nil` where there is nothing to map.
    var state: PortMappingState? {
        if let mapping {
            return .mapped(
                address: mapping.external.description,
                isReached: isVerified ? true : vainCount > 0 ? false : nil)
        }
        guard place != nil else { return nil }
        guard let failure else { return .asked }
        if case .refused = failure { return .refused(failure.description) }
        return .unavailable(failure.description)
    }

    /// When `woken` is due; `nil` for never.
    var wakeAt: Duration? {
        let moments = [isAsking ? nil : askAt, isDialling ? nil : dialAt].compactMap(\.self)
        return moments.min()
    }

    /// Takes in what happened at `now`, which never goes back; what is to be done.
    mutating func handle(_ event: Event, now: Duration) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .found(let found): find(found, now, &effects)
        case .answered(let asked, let result): answer(asked, result, now, &effects)
        case .dialled(let address, let isReached): dialled(address, isReached, now)
        case .connected(let devices):
            // Another one may get through.
            if !devices.isSubset(of: connected), mapping != nil, !isVerified {
                (dialAt, dialCount) = (now, 0)
            }
            connected = devices
        case .woken: break
        }
        act(now, &effects)
        return effects
    }

    private mutating func find(_ found: Place?, _ now: Duration, _ effects: inout [Effect]) {
        guard found != place else {
            // The router may be another one at the same address, or have forgotten.
            if place != nil { askAt = max(now, (lastAsked ?? now) + Self.leastPause) }
            return
        }
        // What another gateway has it keeps until the lease ends: it is out of reach.
        if let mapping, mapping.gateway == found?.gateway || found == nil {
            effects.append(.remove(mapping))
        }
        drop()
        (place, failure, failureCount) = (found, nil, 0)
        askAt = found == nil ? nil : now
    }

    private mutating func drop() {
        mapping = nil
        isVerified = false
        (dialCount, vainCount) = (0, 0)
        dialAt = nil
    }

    private mutating func answer(
        _ asked: Place, _ result: Result<PortMapping, PortMappingError>, _ now: Duration,
        _ effects: inout [Effect]
    ) {
        isAsking = false
        guard asked == place else {
            if case .success(let late) = result { effects.append(.remove(late)) }
            return
        }
        switch result {
        case .success(let new):
            if mapping?.external != new.external {
                if let mapping { effects.append(.remove(mapping)) }
                drop()
                dialAt = now
            }
            (mapping, failure, failureCount) = (new, nil, 0)
            mappedUntil = now + new.lease
            askAt = now + new.lease / 2
        case .failure(let error):
            failure = error
            // A router that restarts does not answer for a while.
            if now >= mappedUntil || error != .noAnswer(gateway: asked.gateway.address) { drop() }
            askAt = now + Self.askPauses[min(failureCount, Self.askPauses.count - 1)]
            failureCount += 1
        }
    }

    private mutating func dialled(
        _ address: SocketAddress, _ isReached: Bool?, _ now: Duration
    ) {
        isDialling = false
        guard let mapping, mapping.external == address, !isVerified else { return }
        if isReached == true {
            isVerified = true
            dialAt = nil
            return
        }
        if isReached == false { vainCount += 1 }
        let pause = Self.dialPauses[min(dialCount, Self.dialPauses.count - 1)]
        dialCount += 1
        // Sooner where somebody came meanwhile.
        dialAt = min(dialAt ?? .seconds(Int64.max), now + pause)
    }

    private mutating func act(_ now: Duration, _ effects: inout [Effect]) {
        if let place, !isAsking, let askAt, askAt <= now {
            isAsking = true
            self.askAt = nil
            lastAsked = now
            effects.append(.ask(place, external: mapping?.external.port ?? place.port))
        }
        if let mapping, !isVerified, !isDialling, let dialAt, dialAt <= now {
            self.dialAt = nil
            // Without anybody to ask, the first one that comes has it tried.
            guard !connected.isEmpty else { return }
            isDialling = true
            effects.append(.haveDialled(mapping.external))
        }
    }
}
