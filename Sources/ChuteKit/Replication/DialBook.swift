import ChuteSystem

/// Which addresses are dialled, and why. A value without I/O or clock.
///
/// What a person asked for is dialled always. Of what others say of a device, only a few addresses
/// are tried at a time: anybody on a link can repeat a member's record with addresses of their own.
/// Each that was tried in vain lets others have its place, so that all get their turn.
struct DialBook {
    /// By the settings of the transports.
    var chosen: Set<String> = []
    /// By tickets that were used.
    var asked: Set<String> = []
    /// What members publish of themselves, and who they are: several may name one address, and
    /// not all of them truly.
    private(set) var published: [String: Set<DeviceID>] = [:]
    /// What the transports found, by their names.
    private(set) var found: [String: [FoundPeer]] = [:]
    /// Who answered at an address when it was last dialled.
    private(set) var answered: [String: DeviceID] = [:]

    /// Who says that a device is somewhere.
    private struct Claim: Hashable {
        /// The transport that found it; `nil` where the device publishes it.
        let transport: String?
        /// `nil` for all devices that are not known before they were dialled.
        let device: DeviceID?

        /// How many of its addresses are tried at a time.
        var places: Int { device == nil ? 32 : transport == nil ? 16 : 8 }
    }

    /// The addresses of each claim, the most plausible ones first.
    private var claims: [Claim: [String]] = [:]
    /// How often an address was tried in vain, while others waited for its place.
    private var setbacks: [String: Int] = [:]
    /// What is tried of what others say.
    private var tried: Set<String> = []
    /// Addresses that were found since somebody last asked.
    private var fresh: Set<String> = []

    private static let publishedLimit = 1024
    private static let foundLimit = 1024

    init(asked: Set<String> = []) { self.asked = asked }

    /// Takes over what members publish; a member's further addresses are left out before others'
    /// first ones are.
    mutating func publish(_ profiles: [(device: DeviceID, addresses: [String])]) {
        published = [:]
        claims = claims.filter { $0.key.transport != nil }
        let most = profiles.map(\.addresses.count).max() ?? 0
        for place in 0..<most {
            for (device, addresses) in profiles where place < addresses.count {
                guard published.count < Self.publishedLimit else { return choose() }
                let address = addresses[place]
                guard Self.mayBePublished(address),
                    published[address, default: []].insert(device).inserted
                else { continue }
                claims[Claim(transport: nil, device: device), default: []].append(address)
            }
        }
        choose()
    }

    /// Whether it is dialled because a member says so: nothing that could make this device ask
    /// another program for something.
    private static func mayBePublished(_ address: String) -> Bool {
        guard let url = WebSocketURL(address) else { return !address.contains("?") }
        return !url.address.isOfThisLink && !url.path.contains("?")
            && url.address.host.lowercased() != "localhost"
    }

    /// Takes over whom a transport finds, of each device the most plausible addresses first; whether
    /// there is one that was not found before.
    @discardableResult
    mutating func find(_ peers: [FoundPeer], by transport: String) -> Bool {
        let former = Set(found[transport] ?? [])
        var once: Set<FoundPeer> = []
        let peers = peers.prefix(Self.foundLimit).filter { once.insert($0).inserted }
        found[transport] = peers
        claims = claims.filter { $0.key.transport != transport }
        for peer in peers {
            claims[Claim(transport: transport, device: peer.device), default: []]
                .append(peer.address)
        }
        choose()
        let new = once.subtracting(former).map(\.address)
        fresh = fresh.union(new).filter(wants)
        return !new.isEmpty
    }

    /// Whether an address was found anew since this was last asked of it.
    mutating func takeFresh(_ address: String) -> Bool { fresh.remove(address) != nil }

    /// Every address that is to be dialled.
    var all: Set<String> { chosen.union(asked).union(tried) }

    /// Whether a person asked for this address, who wants to know how it goes.
    func isInsisted(on address: String) -> Bool {
        chosen.contains(address) || asked.contains(address)
    }

    func wants(_ address: String) -> Bool { isInsisted(on: address) || tried.contains(address) }

    /// Who may be at an address, as far as that is known: who answered there, else who was found
    /// or says that it is there.
    func devices(at address: String) -> Set<DeviceID> {
        if let device = answered[address] { return [device] }
        let found = found.values.joined().filter { $0.address == address }.compactMap(\.device)
        return found.isEmpty ? published[address] ?? [] : Set(found)
    }

    /// On whose account an address is dialled.
    func party(at address: String) -> DialTurns.Party {
        let devices = devices(at: address)
        if !devices.isEmpty { return .devices(devices) }
        return isInsisted(on: address) ? .address(address) : .newcomers
    }

    /// A device answered at an address; `nil` once nobody dials it any more.
    mutating func note(_ device: DeviceID?, at address: String) {
        answered[address] = device
        // Who is there is not who is looked for.
        let isLookedFor = claims.contains {
            $0.value.contains(address) && $0.key.device ?? device == device
        }
        if device != nil, !isLookedFor { giveWay(at: address) } else { choose() }
    }

    /// Whether other addresses of a device wait for the place of this one.
    func isAwaited(at address: String) -> Bool {
        !isInsisted(on: address)
            && claims.contains { $0.value.count > $0.key.places && $0.value.contains(address) }
    }

    /// An address was tried in vain: where others wait for its place, one has it.
    mutating func giveWay(at address: String) {
        guard isAwaited(at: address) else { return }
        setbacks[address, default: 0] += 1
        choose()
    }

    /// Those where the device answered come first, then those that were tried the least.
    private mutating func choose() {
        tried = []
        var known: Set<String> = []
        for (claim, addresses) in claims {
            guard addresses.count > claim.places else {
                tried.formUnion(addresses)
                continue
            }
            known.formUnion(addresses)
            let ranked = addresses.enumerated().map { place, address in
                let isProved = answered[address].map { claim.device ?? $0 == $0 } ?? false
                return (isProved ? 0 : 1, setbacks[address] ?? 0, place, address)
            }
            tried.formUnion(ranked.sorted { $0 < $1 }.prefix(claim.places).map(\.3))
        }
        setbacks = setbacks.filter { known.contains($0.key) }
    }

    /// The next start finds nothing of this one but what was asked for.
    mutating func forget() { self = DialBook(asked: asked) }
}
