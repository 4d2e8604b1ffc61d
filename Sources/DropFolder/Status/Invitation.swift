import ChuteSystem

/// A ticket that lets others become members.
package struct Invitation: Hashable, Sendable {
    /// What `invite list` shows and `invite revoke` takes; no secret.
    package var id: String
    /// What the other device's user types; known only where it was just made.
    package var ticket: String?
    package var role: String
    package var usesLeft: Int
    package var expires: Timestamp
    /// Where the ticket says that this device can be reached.
    package var addresses: [String]
    /// Nobody outside of this network reaches any of the addresses.
    package var reachesOnlyThisNetwork: Bool

    package init(
        id: String, ticket: String?, role: String, usesLeft: Int, expires: Timestamp,
        addresses: [String] = [], reachesOnlyThisNetwork: Bool = false
    ) {
        self.id = id
        self.ticket = ticket
        self.role = role
        self.usesLeft = usesLeft
        self.expires = expires
        self.addresses = addresses
        self.reachesOnlyThisNetwork = reachesOnlyThisNetwork
    }

    /// Whether nobody outside of this network reaches an address of a ticket: a number of a private
    /// network, a name that only this link knows (RFC 6762), or what the transport `lan` found.
    package static func isOfThisNetwork(_ text: String) -> Bool {
        if text.hasPrefix("lan://") { return true }
        guard let address = SocketAddress(text) ?? WebSocketURL(text)?.address else { return false }
        let host = address.host.lowercased()
        return address.isPrivate || host == "localhost" || host.hasSuffix(".local")
    }

    package var json: JSONValue {
        .object([
            "id": .string(id), "ticket": .text(ticket), "role": .string(role),
            "usesLeft": .count(usesLeft), "expires": .string(expires.description),
            "addresses": .array(addresses.map { .string($0) }),
        ])
    }
}
