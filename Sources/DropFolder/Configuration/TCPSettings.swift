package import ChuteSystem

/// `[transports.tcp]`.
package struct TCPSettings: Hashable, Sendable {
    package var listen = Listen.standard
    /// Peers to dial, whether or not a ticket named them.
    package var connect: [SocketAddress] = []
    /// The pauses between attempts to dial.
    package var retryPauses = standardRetryPauses
    /// Where others can dial this device from anywhere.
    package var publicAddress: SocketAddress?
    /// Whether a home router is asked to let connections in.
    package var mapsPort = true

    package init() {}

    package enum Listen: Hashable, Sendable {
        /// Nothing was said: `[::]:4040`, or the next free port.
        case standard
        /// This very address; when it is in use, the transport waits.
        case at(SocketAddress)
        /// Only dials.
        case off
    }

    /// Where to listen when nothing is said.
    package static let standardEndpoint = SocketAddress(host: "::", port: 4040)
    package static let standardRetryPauses: ClosedRange<Duration> = .seconds(1)...(.seconds(60))
}
