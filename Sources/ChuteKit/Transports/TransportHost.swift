import ChuteSystem

/// What a running transport tells its engine, and asks it. Any task may.
public struct TransportHost: Sendable {
    /// What a transport says.
    enum Report: Sendable {
        case state(TransportState)
        case portMapping(PortMappingState?)
        case multicastSpeaker(MulticastSpeaker?)
        case announced([String])
        case found([FoundPeer])
        case accepted(descriptor: Int32, address: String, isDirect: Bool)
    }

    /// Which transport this is for.
    let transport: String
    /// Told what a person may want to know.
    public let diagnostics: Diagnostics
    let tell: @Sendable (Report) -> Void
    let makeDiscoveries: @Sendable () -> AsyncStream<Discovery?>
    let network: NetworkChanges
    /// Fired with `.members` when a device came or went.
    var presence = ChangeSignal()
    var connectedDevices: @Sendable () async -> Set<DeviceID> = { [] }
    /// The devices that are connected by a transport of a rank or a lesser one.
    var devicesByRank: @Sendable (Int) async -> Set<DeviceID> = { _ in [] }
    var lookers: @Sendable (String) async -> [DeviceID: Reachability] = { _ in [:] }

    /// Says how the transport is from now on.
    public func report(_ state: TransportState) { tell(.state(state)) }

    /// Says what the home router does from now on; `nil` where it has nothing to do.
    func report(_ mapping: PortMappingState?) { tell(.portMapping(mapping)) }

    /// Says who speaks multicast DNS from now on; `nil` where nobody has to.
    func report(_ speaker: MulticastSpeaker?) { tell(.multicastSpeaker(speaker)) }

    /// Says where others can dial this device by the transport from now on, in the place of what
    /// was said before. Members are told, and tickets say it.
    public func announce(_ addresses: [String]) { tell(.announced(addresses)) }

    /// Says who was found, in the place of what was said before. Each is dialled for as long as it
    /// is said, unless it is connected by a transport of the same or a lesser rank.
    public func found(_ peers: [FoundPeer]) { tell(.found(peers)) }

    /// Hands a connection over that others made.
    public func accept(_ stream: consuming ConnectedStream) {
        let (address, isDirect) = (stream.address, stream.isDirect)
        tell(
            .accepted(
                descriptor: stream.descriptor.release(), address: address, isDirect: isDirect))
    }

    /// By what members recognise each other, now and after each change; `nil` while this device
    /// shares with nobody.
    func discoveries() -> AsyncStream<Discovery?> { makeDiscoveries() }

    /// Whether a connected device reaches this one at an address, `HOST:PORT`, which it dials for
    /// that; `nil` where nobody is connected who could say so. Takes up to 15 s. Each device dials
    /// six times a minute at most.
    public func isReachable(at address: String) async -> Bool? {
        let found = await lookers(address).compactMapValues(\.isReached)
        return found.isEmpty ? nil : found.values.contains(true)
    }

    /// One element now, and one soon after this host's interfaces or addresses changed, many
    /// changes being one.
    public func networkChanges() -> AsyncStream<Void> { network.updates() }
}
