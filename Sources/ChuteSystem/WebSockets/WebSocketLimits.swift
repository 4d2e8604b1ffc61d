/// The times and sizes of WebSockets; others in tests.
package struct WebSocketLimits: Sendable {
    /// Until the handshake has to be done, on both sides.
    package var handshake = Duration.seconds(10)
    /// Between pings; a third of the time after which proxies cut what is silent.
    package var pingInterval = Duration.seconds(20)
    /// After so many without any byte from the other end it is gone, 80 to 100 seconds in all.
    package var unansweredPings = 4
    /// The payload of the messages that are sent, at most.
    package var messageSize = 64 << 10
    /// The payload of a message that is taken, at most.
    package var largestMessage = 1 << 20
    /// Connections at once, those that shake hands included.
    package var connections = 512

    package init() {}
}
