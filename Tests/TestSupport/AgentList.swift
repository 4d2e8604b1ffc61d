import FoundationEssentials

/// What `list --json` says, as far as tests look at it.
package struct AgentList: Decodable, Sendable {
    package let documents: [Document]

    package struct Document: Decodable, Sendable {
        package let id: String
        package let name: String
        package let size: UInt64
        package let origin: String
        package let state: String
        package let receipts: [Receipt]
    }

    package struct Receipt: Decodable, Hashable, Sendable {
        package let peer: String
        package let state: String

        package init(peer: String, state: String) {
            self.peer = peer
            self.state = state
        }
    }

    /// The list that `json` says; throws what the decoder says of it.
    package init(json: String) throws {
        self = try JSONDecoder().decode(AgentList.self, from: Data(json.utf8))
    }
}
