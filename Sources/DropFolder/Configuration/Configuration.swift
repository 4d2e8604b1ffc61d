package import ChuteSystem

/// What a person configured, checked and complete.
package struct Configuration: Hashable, Sendable {
    package var device = Device()
    package var folders: [FolderSettings] = []
    package var lan = LANSettings()
    package var tcp = TCPSettings()
    package var webSocket = WebSocketSettings()
    package var network = NetworkSettings()
    package var peers: [PeerSettings] = []
    package var store = StoreSettings()
    /// What is known but has no effect, in the order of the file.
    package var notices: [ConfigurationProblem] = []

    package init() {}

    package struct Device: Hashable, Sendable {
        /// How this device calls itself; `nil` for the host's name.
        package var name: String?
        /// The 32-byte key file of a shared-key space; `nil` for a paired one.
        package var sharedKey: BytePath?
        /// Whether it says in words that there is no shared key: `shared_key = ""`. A device whose
        /// configuration only lost its key does not leave the space of that key.
        package var isPairedOnPurpose = false
    }

    package struct StoreSettings: Hashable, Sendable {
        package var retention = Retention.untilDelivered
        /// How much of what this device does not take itself it keeps for others, in bytes.
        package var relayCache: UInt64 = 1 << 30
    }

    /// How long the agent holds its own copy of what it shares.
    ///
    /// Whatever is said here, a copy that no other member has is never dropped.
    package enum Retention: Hashable, Sendable {
        /// Until every member that takes it has it.
        case untilDelivered
        /// At most this long, once one other member has it.
        case atMost(Duration)
        case forever
    }

    /// The name that the device has: the configured one, else the host's. Calls `gethostname`.
    package var deviceName: String { device.name ?? HostName.current }
}
