/// A WebSocket that did not come about, or a listener that cannot be.
package struct WebSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// No connection: refused, or no way there.
        case unreachable
        /// No answer in time.
        case timedOut
        /// The other end answers like a web server, with this status.
        case status(Int)
        /// It answers, but not as a WebSocket's server does.
        case notWebSocket
        /// Its certificate is not trusted.
        case untrusted
        /// TLS could not be agreed on.
        case tls
        /// The HTTP proxy on the way refuses, or its setting is not understood.
        case proxy
        /// The own certificate or its key cannot be used.
        case certificate
        /// libwebsockets could not: too little memory, too few descriptors.
        case library
        /// The service has ended.
        case closed
    }

    package let kind: Kind
    /// What is known, for a person; no sentence.
    package let detail: String

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    package var description: String { detail }
}
