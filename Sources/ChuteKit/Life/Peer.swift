/// A device that is here now: this one, or one that is connected to it.
public struct Peer: Hashable, Sendable {
    /// One connection to a device.
    public struct Connection: Hashable, Sendable {
        /// By which transport: `tcp`.
        public let transport: String
        /// Where the other end is, in the transport's own words.
        public let address: String
        /// Seconds since 1970 when it was made, by this device's clock.
        public let since: UInt64
    }

    /// Which device.
    public let device: DeviceID
    /// The name that it gave itself; `nil` before that came.
    public let name: String?
    /// What it said of itself when it connected, at most 4 KiB: the peer's word and no more.
    public let metadata: Fields
    /// Whether it is this device.
    public let isLocal: Bool
    /// Its connections to this device, the oldest first; none for this device itself.
    public let connections: [Connection]
}
