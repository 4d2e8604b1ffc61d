/// Which addresses are dialled, and why. A value without I/O or clock.
struct DialBook {
    /// By the settings of the transports.
    var chosen: Set<String> = []
    /// By tickets that were used.
    var asked: Set<String> = []
    /// What members publish of themselves, and who they are: several may name one address, and
    /// not all of them truly.
    var published: [String: Set<DeviceID>] = [:]
    /// What the transports found, by their names.
    var found: [String: [FoundPeer]] = [:]
    /// Who answered at an address when it was last dialled.
    var answered: [String: DeviceID] = [:]

    private static let publishedLimit = 1024
    private static let foundLimit = 1024

    /// Takes over what members publish; a member's further addresses are left out before others'
    /// first ones are.
    mutating func publish(_ profiles: [(device: DeviceID, addresses: [String])]) {
        published = [:]
        let most = profiles.map(\.addresses.count).max() ?? 0
        for place in 0..<most {
            for (device, addresses) in profiles where place < addresses.count {
                guard published.count < Self.publishedLimit else { return }
                guard Self.mayBePublished(addresses[place]) else { continue }
                published[addresses[place], default: []].insert(device)
            }
        }
    }

    /// Whether it is dialled because a member says so: nothing that could make this device ask
    /// another program for something.
    private static func mayBePublished(_ address: String) -> Bool {
        guard let url = WebSocketURL(address) else { return !address.contains("?") }
        return !url.address.isOfThisLink && !url.path.contains("?")
            && url.address.host.lowercased() != "localhost"
    }

    mutating func find(_ peers: [FoundPeer], by transport: String) {
        found[transport] = Array(peers.prefix(Self.foundLimit))
    }

    /// Every address that is to be dialled.
    var all: Set<String> {
        chosen.union(asked).union(published.keys).union(found.values.joined().map(\.address))
    }

    /// Whether a person asked for this address, who wants to know how it goes.
    func isInsisted(on address: String) -> Bool {
        chosen.contains(address) || asked.contains(address)
    }

    func wants(_ address: String) -> Bool {
        isInsisted(on: address) || published[address] != nil
            || found.values.contains { $0.contains { $0.address == address } }
    }

    /// Who may be at an address, as far as that is known: who answered there, else who was found
    /// or says that it is there.
    func devices(at address: String) -> Set<DeviceID> {
        if let device = answered[address] { return [device] }
        let found = found.values.joined().filter { $0.address == address }.compactMap(\.device)
        return found.isEmpty ? published[address] ?? [] : Set(found)
    }

    /// The next start finds nothing of this one but what was asked for.
    mutating func forget() { self = DialBook(asked: asked) }
}
