import ChuteSystem

/// Sorts what is seen by whose it is. A value without I/O or clock.
///
/// Whoever hears a member's record can repeat it with any number of addresses of the link, before
/// or after the member itself says it: which is the true one shows only when it is dialled. Of each
/// device the oldest and the newest address of each kind come first, and some are watched.
struct LANCrowd {
    /// How many services of one device are watched; of one that is no member yet no more are told.
    private static let mostOfEach = 8

    /// One device, as far as it can be told from others.
    fileprivate enum Origin: Hashable {
        case member(DeviceID)
        /// Known by its record alone.
        case newcomer([[UInt8]])
    }

    private var sightings: [Origin: [ServiceSighting]] = [:]
    /// In the order in which they were seen.
    private var origins: [Origin] = []
    private var strangers: Set<ServiceSighting> = []

    /// Adds what was seen, the oldest first.
    mutating func add(_ sighting: ServiceSighting, of origin: DiscoveryRecord.Origin) {
        switch origin {
        case .nobody: strangers.insert(sighting)
        case .member(let device): add(sighting, of: Origin.member(device))
        case .newcomer: add(sighting, of: Origin.newcomer(sighting.text))
        }
    }

    private mutating func add(_ sighting: ServiceSighting, of origin: Origin) {
        if sightings[origin] == nil { origins.append(origin) }
        sightings[origin, default: []].append(sighting)
    }

    /// Each address of each device once; the devices take turns.
    var members: [FoundPeer] {
        let all = origins.map { origin in
            var once: Set<FoundPeer> = []
            let peers = plausible(origin)
                .map { FoundPeer(address: LANAddress.text($0.address), device: origin.device) }
                .filter { once.insert($0).inserted }
            return origin.device == nil ? Array(peers.prefix(Self.mostOfEach)) : peers
        }
        return all.interleaved()
    }

    /// What need not be watched, while those are connected: watching costs everybody on the link
    /// several packets a minute.
    func unwatched(connected: Set<DeviceID>) -> UnwatchedSightings {
        var unwatched = UnwatchedSightings(strangers: strangers)
        for origin in origins {
            let all = plausible(origin)
            unwatched.strangers.formUnion(all.dropFirst(Self.mostOfEach))
            if origin.device.map(connected.contains) ?? false {
                unwatched.resting.formUnion(all.prefix(Self.mostOfEach))
            }
        }
        return unwatched
    }

    private func plausible(_ origin: Origin) -> [ServiceSighting] {
        let kinds = Dictionary(grouping: sightings[origin] ?? []) { Self.kind(of: $0.address) }
        return kinds.sorted { $0.key < $1.key }.map { $0.value.fromBothEnds() }.interleaved()
    }

    /// Of IPv4, of IPv6, and of its link alone.
    private static func kind(of address: SocketAddress) -> Int {
        guard address.host.contains(":") else { return 0 }
        return address.isOfThisLink ? 2 : 1
    }
}

extension LANCrowd.Origin {
    fileprivate var device: DeviceID? {
        if case .member(let device) = self { device } else { nil }
    }
}

extension Array {
    /// The first, the last, the second, the last but one, and so on.
    fileprivate func fromBothEnds() -> [Element] {
        indices.map { $0.isMultiple(of: 2) ? self[$0 / 2] : self[count - 1 - $0 / 2] }
    }

    /// The first of each, then the second of each, and so on.
    fileprivate func interleaved<Inner>() -> [Inner] where Element == [Inner] {
        let most = map(\.count).max() ?? 0
        return (0..<most).flatMap { place in compactMap { place < $0.count ? $0[place] : nil } }
    }
}
