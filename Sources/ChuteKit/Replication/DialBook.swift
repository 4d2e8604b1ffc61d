/// Which addresses are dialled, and why. A value without I/O or clock.
struct DialBook {
    /// By the settings of the transports.
    var chosen: Set<String> = []
    /// By tickets that were used.
    var asked: Set<String> = []
    /// What members publish of themselves.
    var published: [String: DeviceID] = [:]
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
                published[addresses[place]] = device
            }
        }
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

    /// Who is at an address, as far as that is known: who answered there, else who was found or
    /// said to be there.
    func device(at address: String) -> DeviceID? {
        answered[address] ?? found.values.joined().first { $0.address == address }?.device
            ?? published[address]
    }

    /// The next start finds nothing of this one but what was asked for.
    mutating func forget() { self = DialBook(asked: asked) }
}
