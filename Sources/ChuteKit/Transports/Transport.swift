import ChuteSystem

/// A connected byte stream on its way to a session: the descriptor, and what is told of it.
struct ConnectedStream: ~Copyable, Sendable {
    /// A non-blocking descriptor. A transport without one pumps a socket pair.
    var descriptor: FileDescriptor
    /// Where the other end is, in the transport's own words.
    let address: String
    /// The transport's name, as in the configuration.
    let transport: String
}

/// A transport that yields connected streams.
protocol StreamTransport: Sendable {
    /// The name in configuration and status.
    var name: String { get }

    /// Connects to an address. Throws what the system says, or `CancellationError`.
    func connect(to address: String) async throws -> ConnectedStream

    /// Takes connections until cancelled and hands each to `accepted`. `listening` is told each
    /// address where connections are taken, or why there is none.
    func listen(
        at address: String, listening: @Sendable (ListenState) -> Void,
        accepted: @Sendable (consuming ConnectedStream) -> Void
    ) async
}

/// How listening at an address goes.
public enum ListenState: Hashable, Sendable {
    /// Connections are taken at this address.
    case listening(String)
    /// They are not, and why; it is tried again.
    case waiting(String)
}

/// A transport of sealed messages that lie somewhere until they are fetched: a bucket, a
/// carried folder.
protocol MailboxTransport: Sendable {
    /// The name in configuration and status.
    var name: String { get }
    /// Stores a message under `key`, wholly or not at all, in the place of an earlier one.
    func put(_ message: [UInt8], at key: String) async throws
    /// The keys that begin with `prefix`, in their order.
    func list(prefix: String) async throws -> [String]
    /// The message of a key; `nil` where there is none.
    func get(_ key: String) async throws -> [UInt8]?
    /// Removes a message; nothing happens where there is none.
    func delete(_ key: String) async throws
}
