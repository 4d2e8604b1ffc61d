import ChuteSystem

/// What of this store a peer gets: what its role lets it see, and of that what it asked for.
struct PeerView: Hashable, Sendable {
    /// What a role lets a device see.
    enum Scope: Hashable, Sendable {
        /// Everything.
        case space
        /// What a device that only sends may know.
        case sender(SenderScope)
    }

    var scope = Scope.space
    var subscription = Subscription.everything

    /// A member's that asked for everything.
    static let everything = PeerView()

    init(scope: Scope = .space, subscription: Subscription = .everything) {
        self.scope = scope
        self.subscription = subscription
    }

    /// `nil` for who is no member: it gets nothing.
    init?(of peer: DeviceID, in membership: Membership, subscription: Subscription) {
        guard let role = membership.role(of: peer) else { return nil }
        self.subscription = subscription
        guard role == .sender else { return }
        scope = .sender(
            SenderScope(
                device: peer, owners: membership.owners, pastOwners: membership.pastOwners))
    }

    /// Whether it is less than what a member gets.
    var isRestricted: Bool { scope != .space }

    /// What tells this view from others: a cursor that was given for another one names no place
    /// in this one. `nil` for everything.
    func digest() throws -> Digest? {
        guard self != .everything else { return nil }
        let scope: CBOR =
            switch scope {
            case .space: .null
            case .sender(let sender): sender.cbor
            }
        let wanted = try subscription.encoded()
        return Digest(
            hashing: CBOR.array([
                .text("chute view 1"), scope, wanted.map { .bytes($0) } ?? .null,
            ]).encoded())
    }
}

extension Digest? {
    /// The tag of a number in the stream, as the peer with this view sees it.
    func tag(_ tag: [UInt8]) -> [UInt8] {
        guard let self else { return tag }
        return Array(Digest(hashing: self.bytes, tag).bytes.prefix(tag.count))
    }
}
