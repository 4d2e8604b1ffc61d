/// What works or fails beside the transports: see ``Chute/networkParts``.
public struct NetworkParts: Hashable, Sendable {
    /// What the home router does; `nil` where it has nothing to do: no transport listens that
    /// asks one, or this device is not behind one.
    public internal(set) var portMapping: PortMappingState?
    /// Who speaks multicast DNS; `nil` where nobody has to.
    public internal(set) var multicastSpeaker: MulticastSpeaker?
}

/// What a home router does for a port of this device.
public enum PortMappingState: Hashable, Sendable {
    /// It is asked, and has not answered yet.
    case asked
    /// It passes on what comes to this address. `isReached` says whether a member got through by
    /// it; `nil` where none has tried yet.
    case mapped(address: String, isReached: Bool?)
    /// It says no, and why.
    case refused(String)
    /// It does not answer, or passes nothing on that would help, and why.
    case unavailable(String)
}

/// Who speaks multicast DNS for this process.
public enum MulticastSpeaker: Hashable, Sendable {
    /// The Avahi daemon of this host.
    case daemon
    /// Avahi's core, within this process.
    case embedded
    /// Nobody; why, once it was tried.
    case nobody(String?)
}
