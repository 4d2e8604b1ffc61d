import FoundationEssentials

/// What `status --json` says, as far as tests look at it.
package struct AgentStatus: Decodable, Sendable {
    package let schema: Int
    package let device: Device
    package let running: Bool
    package let space: String?
    package let peers: [Peer]
    package let transports: [Transport]
    package let folders: [FolderState]
    package let transfers: [Transfer]

    package struct Device: Decodable, Sendable {
        package let id: String
        package let name: String
    }

    package struct Peer: Decodable, Sendable {
        package let id: String
        package let name: String
        package let role: String
        package let connected: Bool
        package let address: String?
    }

    package struct Transport: Decodable, Sendable {
        package let name: String
        package let state: String
        package let detail: String
    }

    package struct FolderState: Decodable, Sendable {
        package let collection: String
        package let state: String
        package let shared: Int
        package let delivered: Int
        package let pending: Int
        package let peers: [Delivery]
        package let skipped: [Skipped]
        package let skippedTotal: [String: Int]
    }

    package struct Delivery: Decodable, Sendable {
        package let id: String
        package let delivered: Int
        package let pending: Int
        package let refused: Int
        package let notWanted: Int
    }

    package struct Skipped: Decodable, Sendable {
        package let path: String
        package let pathBytes: String?
        package let reason: String
        package let detail: String
    }

    package struct Transfer: Decodable, Sendable {
        package let name: String
        package let direction: String
        package let done: UInt64
        package let total: UInt64
    }

    /// The status that `json` says; throws what the decoder says of it.
    package init(json: String) throws {
        self = try JSONDecoder().decode(AgentStatus.self, from: Data(json.utf8))
    }

    /// The one folder of a default configuration; an empty one where there is none.
    package var folder: FolderState? { folders.first }

    /// The transport of a name; `nil` where it is not told of.
    package func transport(_ name: String) -> Transport? {
        transports.first { $0.name == name }
    }

    /// Whether every peer has told for every document of ours what it did with it.
    package var isSettled: Bool {
        !peers.isEmpty && transfers.isEmpty && folders.allSatisfy { $0.pending == 0 }
    }
}
