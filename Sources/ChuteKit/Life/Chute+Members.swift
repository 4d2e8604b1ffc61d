import ChuteSystem

/// Who belongs to the space.
extension Chute {
    /// The space, if this device shares with others or could.
    public var space: SpaceID? {
        get async {
            let space = await store.writer.space
            return space == .alone ? nil : space
        }
    }

    /// Makes a ticket that lets `uses` devices, 1 to 10,000, join within `lifetime`; founds a space
    /// where this device is in none. Durable when it returns.
    ///
    /// `addresses`, at most 64, are where they find this device: unless given, those at which it
    /// listens now. The ticket works while this engine replicates.
    ///
    /// Throws `notAllowed` for whoever is no owner and in a space with a key, whose members get
    /// that instead; `invalid` for numbers and addresses that are none; `closed`. Warns where it
    /// listens nowhere and no addresses are given.
    public func invite(
        role: Role = .member, uses: Int = 1, lifetime: Duration = .seconds(15 * 60),
        addresses: [String]? = nil
    ) async throws -> Ticket {
        try sync.checkOpen()
        guard (1...10_000).contains(uses), lifetime >= .seconds(1) else {
            throw ChuteError(
                .invalid, "a ticket has 1 to 10000 uses, and lasts a second at least")
        }
        let known = await ownAddresses
        if addresses == nil, known.isEmpty {
            context.diagnostics.warning(
                "nobody can use a ticket of this device, which listens nowhere: open it with an "
                    + "address to listen at and start to sync first, or say where it is dialled")
        }
        let addresses = addresses ?? Array(known.prefix(Ticket.addressLimit))
        guard addresses.count <= Ticket.addressLimit,
            addresses.allSatisfy(Self.isAddress)
        else {
            throw ChuteError(
                .invalid,
                "a ticket has at most \(Ticket.addressLimit) addresses, each HOST:PORT or a URL")
        }
        return try await store.write { transaction in
            try transaction.makeTicket(
                role: role, uses: uses, lifetimeSeconds: UInt64(lifetime.components.seconds),
                addresses: addresses)
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        text.utf8.count <= Ticket.addressByteLimit
            && (SocketAddress(text) != nil || text.contains("://"))
    }

    /// Ends a ticket; `false` where this device made none with this id. Durable when it returns.
    /// Throws `closed`.
    public func revokeTicket(_ id: String) async throws -> Bool {
        try await store.write { try $0.revokeTicket(id) }
    }

    /// Joins the space of a ticket. Durable when it returns. The connection that it makes is kept
    /// up while the engine replicates.
    ///
    /// Throws `unreachable`, `wrongDevice`, `ticketExpired`, `ticketUsedUp`, `ticketRevoked`,
    /// `refused` with the inviter's reason, `alreadyInSpace` for who shares with others or by a
    /// key, and `closed`.
    public func join(_ ticket: Ticket) async throws {
        try sync.checkOpen()
        try await store.writer.checkCanJoin(ticket)
        do { try await replicator.join(ticket) } catch let end as SessionEnd {
            throw end.forJoiner
        }
    }

    /// The members of the space, this device too, in the order of their ids. Throws `closed`.
    public func members() async throws -> [Member] { try await store.read { try $0.members() } }

    /// Gives a member another role; nothing happens where it has that. Durable when it returns;
    /// others hear of it as they connect. Who becomes a sender keeps what it got before; what it
    /// wrote into documents that anybody may write counts no more while it is one.
    ///
    /// Throws `notAllowed` for whoever is no owner, in a space with a key, and for an owner that
    /// wants a lesser role itself; `notFound` for who is no member, `closed`.
    public func setRole(_ role: Role, of member: DeviceID) async throws {
        try await store.write { try $0.setRole(role, of: member) }
    }

    /// Takes a member out of the space: what it writes from now on counts nowhere. Durable when it
    /// returns; others hear of it as they connect.
    ///
    /// Throws `notAllowed` for whoever is no owner and in a space with a key, `notFound` for who is
    /// no member, `closed`.
    public func remove(_ member: DeviceID) async throws {
        try await store.write { try $0.removeMember(member) }
    }

    /// What was left.
    public struct Departure: Hashable, Sendable {
        /// The space; `nil` where this device was in none.
        public let space: SpaceID?
        /// How many others are in it.
        public let otherCount: Int
    }

    /// Leaves the space and forgets its members; own documents and all files stay. Durable when it
    /// returns.
    ///
    /// Throws `onlyOwner` for the only owner of a space with others, unless `isForced`: nobody
    /// could invite or remove anybody from then on. Throws `notAllowed` in a space with a key, and
    /// `closed`.
    @discardableResult
    public func leave(isForced: Bool = false) async throws -> Departure {
        try await store.write { transaction in
            let space = try transaction.space()
            let members = try transaction.members()
            let others = members.filter { $0.id != transaction.device }
            let isOwner = members.contains { $0.id == transaction.device && $0.role == .owner }
            if isOwner, !others.isEmpty, !others.contains(where: { $0.role == .owner }), !isForced {
                throw ChuteError(
                    .onlyOwner,
                    "this device is the only owner of a space with others, and nobody could invite "
                        + "or remove anybody without it: make another one an owner first, by a "
                        + "ticket of that role, or leave by force")
            }
            try transaction.leaveSpace()
            return Departure(space: space, otherCount: others.count)
        }
    }

    /// The members that said that this device was removed from the space. Empty once they let it
    /// in again, and always in a space with a shared key.
    public var removedBy: [DeviceID] { get async { await replicator.removedBy } }

    /// Where others can dial this device now, as its transports say. None while it does not
    /// replicate.
    public var ownAddresses: [String] { get async { await replicator.ownAddresses } }
}
