import ChuteSystem

/// A connected byte stream on its way to a session: the descriptor, and what is told of it.
public struct ConnectedStream: ~Copyable, Sendable {
    /// Non-blocking. A transport without one pumps a socket pair.
    var descriptor: FileDescriptor
    /// Where the other end is, in the transport's own words; strangers are counted by it.
    public let address: String
    /// The transport's name.
    public let transport: String

    /// Whether the other end itself is at `address`, and no proxy may stand there.
    public let isDirect: Bool

    init(
        descriptor: consuming FileDescriptor, address: String, transport: String,
        isDirect: Bool = true
    ) {
        self.descriptor = descriptor
        self.address = address
        self.transport = transport
        self.isDirect = isDirect
    }

    /// The descriptor alone.
    consuming func socket() -> FileDescriptor { descriptor }

    /// Takes over an open stream socket, which must be non-blocking and is closed with this.
    public init(owning socket: Int32, address: String, transport: String, isDirect: Bool = true) {
        self.init(
            descriptor: FileDescriptor(owning: socket), address: address, transport: transport,
            isDirect: isDirect)
    }
}
