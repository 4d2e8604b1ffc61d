/// A member that wants to be connected: it has proved itself, and nothing of the store was sent.
public struct ConnectionRequest: Hashable, Sendable {
    /// What becomes of it.
    public enum Answer: Hashable, Sendable {
        /// The connection lives.
        case allow
        /// It ends; the member tries again after growing pauses.
        case refuse
    }

    /// Which device.
    public let device: DeviceID
    /// What it says of itself.
    public let metadata: Fields
    /// By which transport.
    public let transport: String
    /// Where it is, in the transport's own words.
    public let address: String
}
