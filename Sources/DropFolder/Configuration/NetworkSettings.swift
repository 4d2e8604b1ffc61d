/// `[network]`.
package struct NetworkSettings: Hashable, Sendable {
    /// The transports that are used.
    package var transports = TransportName.built
    package var limits = RateLimits()
    /// Whether the limits hold on the local network, too.
    package var limitsLAN = false

    package init() {}
}

/// Bytes a second that may go out and come in; `nil` without limit.
package struct RateLimits: Hashable, Sendable {
    package var upload: UInt64?
    package var download: UInt64?

    package init() {}
}

/// A transport as the configuration calls it.
package enum TransportName: String, CaseIterable, Sendable {
    case lan, tcp, websocket, bluetooth, bucket, folder

    /// Those that there are.
    package static let built: [TransportName] = [.lan, .tcp, .websocket]
}
