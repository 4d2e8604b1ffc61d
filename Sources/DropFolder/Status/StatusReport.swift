package import ChuteSystem

/// What `chute status` says: of this device, its peers, its folders and what is under way.
///
/// Counts about peers come from receipts alone, counts about this device from its own rows.
package struct StatusReport: Hashable, Sendable {
    package var device: Device
    package var running: Bool
    /// The space's id; `nil` while this device is alone.
    package var space: String?
    package var peers: [Peer] = []
    package var transports: [TransportStatus] = []
    package var folders: [FolderState] = []
    package var transfers: [Transfer] = []
    /// What waits and for what, in sentences; shown, not part of the JSON.
    package var notes: [String] = []
    /// Who took this device out of the space, by name, and empty where nobody knows; `nil` while
    /// it is in. Shown, not part of the JSON.
    package var removedBy: [String]?

    package init(device: Device, running: Bool, space: String? = nil) {
        self.device = device
        self.running = running
        self.space = space
    }

    package struct Device: Hashable, Sendable {
        package var id: String
        package var name: String

        package init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// Another member of the space.
    package struct Peer: Hashable, Sendable {
        package var id: String
        package var name: String
        package var role: String
        package var connected: Bool
        /// The transport of the connection, such as `tcp`; `nil` without one.
        package var transport: String?
        /// The address at the other end, as it was dialled or seen.
        package var address: String?
        /// `nil` where it was never connected to this device.
        package var lastSeen: Timestamp?

        package init(
            id: String, name: String, role: String, connected: Bool, transport: String? = nil,
            address: String? = nil, lastSeen: Timestamp? = nil
        ) {
            self.id = id
            self.name = name
            self.role = role
            self.connected = connected
            self.transport = transport
            self.address = address
            self.lastSeen = lastSeen
        }
    }

    /// One collection with its inbox and outbox.
    package struct FolderState: Hashable, Sendable {
        package var collection: String
        package var inbox: BytePath?
        package var outbox: BytePath?
        /// `running`, or what it waits for: `waiting: not mounted`.
        package var state: String
        /// Documents of own origin.
        package var shared = 0
        /// Files of others that are published here.
        package var delivered = 0
        /// What peers that take the collection have no receipt for, summed over them.
        package var pending = 0
        package var peers: [Delivery] = []
        /// At most 100, the latest.
        package var skipped: [Skipped] = []
        /// How many in all, by reason code.
        package var skippedTotal: [String: Int] = [:]
        /// Those of them that are not left out, by what they are; shown, not part of the JSON.
        package var apart: [Skipped.Kind: [String: Int]] = [:]
        /// Files in the inbox that are not whole yet, or were not looked at; not in the JSON.
        package var settling = 0
        /// Files of others that are still to come here; not in the JSON.
        package var coming = 0

        package init(
            collection: String, inbox: BytePath? = nil, outbox: BytePath? = nil, state: String
        ) {
            self.collection = collection
            self.inbox = inbox
            self.outbox = outbox
            self.state = state
        }
    }

    /// What one peer's receipts say of this device's documents:
    /// shared = delivered + pending + refused + notWanted.
    package struct Delivery: Hashable, Sendable {
        package var id: String
        package var delivered = 0
        package var pending = 0
        package var refused = 0
        package var notWanted = 0
        /// Delivered ones that the user there has removed since.
        package var removed = 0
        package var bytesPending: UInt64 = 0

        package init(id: String) { self.id = id }
    }

    /// A name in the inbox that is not shared, or one of a peer's that is not taken; and what else
    /// has a reason code.
    package struct Skipped: Hashable, Sendable {
        package enum Kind: Hashable, Sendable, CaseIterable {
            /// It stays where it is.
            case leftOut
            /// It is shared, and may not be what its user thinks.
            case doubtful
            /// It goes on by itself.
            case waiting
            /// A peer's clock; no file.
            case clock
        }

        package var path: BytePath
        /// A reason code, such as `too-large`.
        package var reason: String
        /// More about it, in words; may be empty.
        package var detail: String
        /// Shown, not part of the JSON, where the reason tells it.
        package var kind: Kind

        package init(
            path: BytePath, reason: String, detail: String = "", kind: Kind = .leftOut
        ) {
            self.path = path
            self.reason = reason
            self.detail = detail
            self.kind = kind
        }
    }

    /// A file that is on its way.
    package struct Transfer: Hashable, Sendable {
        package enum Direction: String, Sendable { case incoming, outgoing }

        package var id: String
        package var name: BytePath
        /// The name of the peer at the other end.
        package var peer: String
        package var direction: Direction
        /// In bytes.
        package var done: UInt64
        package var total: UInt64

        package init(
            id: String, name: BytePath, peer: String, direction: Direction, done: UInt64,
            total: UInt64
        ) {
            self.id = id
            self.name = name
            self.peer = peer
            self.direction = direction
            self.done = done
            self.total = total
        }
    }
}
