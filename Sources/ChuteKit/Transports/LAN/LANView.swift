import ChuteSystem

/// What the transport `lan` knows of itself and its links, and what follows from it. A value
/// without I/O or clock.
struct LANView {
    let transport: LANTransport
    /// Of this start; others where these turned out to be taken.
    var names: LANNames
    /// Where connections are taken; `nil` as long as they are not.
    var listening: SocketAddress?
    /// Why connections are not taken, in a sentence.
    var listeningTrouble: String?
    /// All addresses of this host.
    private(set) var interfaceAddresses: [InterfaceAddress] = []
    private var whereabouts = LANWhereabouts()
    /// The networks that they are in; `nil` until that is known.
    var networks: [NetworkPrefix]?
    /// The inner `nil` while this device shares with nobody, the outer until that is known.
    var discovery: Discovery??
    var multicast = MulticastDNSState()
    /// Devices that nobody need look for: they are connected as well as this transport could.
    var connected: Set<DeviceID> = []

    /// How many addresses are announced.
    private static let mostAddresses = 64

    init(_ transport: LANTransport, names: LANNames) {
        self.transport = transport
        self.names = names
    }

    /// Whether others are to be looked for.
    var looksForOthers: Bool { transport.isMDNSEnabled && sharing != nil }

    private var sharing: Discovery? { discovery ?? nil }

    /// The addresses on the chosen interfaces, in their order.
    private var chosen: [InterfaceAddress] {
        interfaceAddresses.filter(transport.isChosen)
    }

    /// What others on the links are told; `nil` while there is nothing to tell.
    var announcement: ServiceAnnouncement? {
        guard looksForOthers, let listening, let sharing else { return nil }
        return ServiceAnnouncement(
            name: names.instance, host: names.host, port: listening.port,
            text: DiscoveryRecord(of: sharing, nonce: names.nonce).text,
            interfaces: transport.interfaces.isEmpty ? nil : Set(chosen.map(\.index)),
            addresses: Set(
                toldOnLinks.prefix(Self.mostAddresses).map {
                    ServiceAnnouncement.Address(interface: $0.index, host: $0.number)
                }))
    }

    /// Of each interface the addresses that its link is told: of IPv6 the link-local one, which
    /// reaches everybody there and stays when the network gets other numbers.
    private var toldOnLinks: [InterfaceAddress] {
        let chosen = chosen.filter { listening?.host == "::" || !$0.isIPv6 }
        return chosen.filter { address in
            let others = chosen.filter {
                $0.index == address.index && $0.isIPv6 == address.isIPv6 && $0 != address
            }
            let isOfLink = address.address.isOfThisLink
            return others.allSatisfy { $0.address.isOfThisLink == isOfLink }
                || isOfLink == address.isIPv6
        }
    }

    /// Who is seen.
    struct Seen: Equatable {
        /// Members with each of their addresses, of each the most plausible ones first.
        var members: [FoundPeer] = []
        /// What need not be watched: it is nobody's here or too much of one device's, or of one that
        /// is connected.
        var unwatched = UnwatchedSightings()
    }

    func seen(by recogniser: inout LANRecogniser) -> Seen {
        guard looksForOthers, let sharing else { return Seen() }
        var crowd = LANCrowd()
        for sighting in multicast.sightings {
            let origin = recogniser.origin(of: sighting.text, in: sharing)
            let isOfUse = isNear(sighting.address) && transport.reaches(sighting.address)
            crowd.add(sighting, of: isOfUse ? origin : .nobody)
        }
        recogniser.keepOnly(multicast.sightings.lazy.map(\.text))
        return Seen(members: crowd.members, unwatched: crowd.unwatched(connected: connected))
    }

    /// Whether an address is of a network that this host is in, and not this host by itself: whoever
    /// repeats a member's record may name any other.
    private func isNear(_ address: SocketAddress) -> Bool {
        if address.isLoopback { return false }
        return address.isOfThisLink || networks?.contains { $0.contains(address) } ?? true
    }

    /// Takes in the addresses of this host. In another network it gets other names: nobody knows it
    /// again there, and who saw it looks for its addresses anew.
    mutating func take(_ addresses: [InterfaceAddress]) {
        interfaceAddresses = addresses
        if whereabouts.isElsewhere(at: Set(toldOnLinks.map(\.address))) { names = LANNames() }
    }

    /// Where this device can be dialled without being seen: not at link-local addresses, which mean
    /// nothing elsewhere.
    var announced: [String] {
        guard let listening else { return [] }
        return chosen.map(\.address)
            .filter { !$0.isOfThisLink && (listening.host == "::" || !$0.host.contains(":")) }
            .prefix(Self.mostAddresses)
            .map { LANAddress.text(SocketAddress(host: $0.host, port: listening.port)) }
    }

    /// `nil` until there is something to say.
    var state: TransportState? {
        if chosen.isEmpty { return .waiting(missingInterfaces) }
        if let listeningTrouble { return .waiting(listeningTrouble) }
        guard let listening, let discovery else { return nil }
        var names: [String] = []
        for address in chosen where names.last != address.interface {
            if !names.contains(address.interface) { names.append(address.interface) }
        }
        let place = "\(listening) on \(names.joined(separator: ", "))"
        guard transport.isMDNSEnabled else { return .running("\(place), without mDNS") }
        guard discovery != nil else {
            return .waiting(
                "this device shares with nobody: run `chute invite` or `chute join`")
        }
        return multicastState(place)
    }

    /// `nil` where nobody has to speak: mDNS is off, or this device shares with nobody.
    var speaker: MulticastSpeaker? {
        guard looksForOthers, !chosen.isEmpty else { return nil }
        return switch multicast.speaker {
        case .daemon: .daemon
        case .embedded: .embedded
        case .nobody(let error): .nobody(error.map { "\($0)" })
        }
    }

    private var missingInterfaces: String {
        transport.interfaces.isEmpty
            ? "no network interface has an address: connect this device to a network"
            : "there is no address on \(transport.interfaces.joined(separator: ", ")): connect it, "
                + "or change interfaces in [transports.lan]"
    }

    private func multicastState(_ place: String) -> TransportState? {
        switch multicast.speaker {
        case .nobody(nil): return nil
        case .nobody(let error?) where error.isMissingLibrary:
            return .impossible(
                "mDNS needs the libraries of Avahi: install libavahi-client3 and libavahi-core7")
        case .nobody(let error?) where error.isWithoutSocket:
            return .impossible(
                "UDP port 5353 cannot be opened for mDNS: stop the program that keeps it to "
                    + "itself, or install avahi-daemon")
        case .nobody(let error?): return .waiting("mDNS does not work: \(error)")
        case .daemon: return multicastState("\(place), mDNS by the Avahi daemon", .daemon)
        case .embedded: return multicastState("\(place), mDNS built in", .embedded)
        }
    }

    private func multicastState(
        _ place: String, _ speaker: MulticastDNSState.Speaker
    ) -> TransportState {
        if let error = multicast.browsingFailure {
            return .waiting("others cannot be looked for by mDNS: \(error)")
        }
        guard case .failed(let error) = multicast.announcing else { return .running(place) }
        let why =
            error.isForbidden && speaker == .daemon
            ? "the Avahi daemon's configuration forbids it (disable-publishing and "
                + "disable-user-service-publishing in avahi-daemon.conf)" : "\(error)"
        return .running("\(place); finds others and is not found: \(why)")
    }
}
