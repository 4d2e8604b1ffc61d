/// A way for the devices of a space to reach each other by connected byte streams.
///
/// A value: its settings, and nothing that runs. The transports of an engine may be exchanged
/// while it replicates; one that is equal to one that runs goes on undisturbed.
public protocol StreamTransport: Hashable, Sendable {
    /// The name in configuration and status, one for each transport of an engine: `tcp`.
    var name: String { get }

    /// Of several connections to one device the one by the transport of the least rank stays: 0 on
    /// the local network, 1 straight through the internet, 2 through somebody else's machine.
    var rank: Int { get }

    /// What is dialled for as long as this transport is chosen.
    var connect: [String] { get }

    /// The pauses between attempts to dial: after some quick ones they double from the least to the
    /// greatest.
    var retryPauses: ClosedRange<Duration> { get }

    /// Whether an address is one of this transport's. The first transport that says so dials it.
    func canDial(_ address: String) -> Bool

    /// Connects to an address. Throws what the system says, or `CancellationError`.
    func connect(to address: String) async throws -> ConnectedStream

    /// Takes connections, finds others, or does nothing, until cancelled; tells `host` how it goes.
    /// It must end soon after a cancel, and go on after every failure.
    func run(_ host: TransportHost) async

    /// Throws `invalid` for settings that mean nothing.
    func check() throws

    /// Has nothing to do with anything beyond this host and its links from now on, for identities
    /// without security. Throws `notLocal` where its settings are about more.
    mutating func stayLocal() throws
}

extension StreamTransport {
    /// Nothing.
    public var connect: [String] { [] }

    /// From one second to a minute.
    public var retryPauses: ClosedRange<Duration> { .seconds(1)...(.seconds(60)) }

    /// All settings do.
    public func check() throws {}

    /// Throws `notLocal`: a transport that says nothing else reaches whom it likes.
    public mutating func stayLocal() throws {
        throw ChuteError(
            .notLocal,
            "the transport \(name) reaches beyond this host and link, and a development identity "
                + "has no security: leave it out, or use another identity")
    }
}
