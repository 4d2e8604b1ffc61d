import ChuteSystem

/// An invitation as its maker sees it.
public struct TicketStatus: Hashable, Sendable {
    /// The short id by which it is revoked.
    public let id: String
    /// What the joining device becomes.
    public let role: Role
    /// How many devices may still use it.
    public let uses: Int
    /// Seconds since 1970.
    public let expires: UInt64
    /// Taken back by its maker.
    public let isRevoked: Bool
    /// Who used it.
    public let usedBy: [DeviceID]
}

extension Snapshot {
    /// All tickets of this device, the newest last.
    public func tickets() throws -> [TicketStatus] {
        try database.prepare(
            "SELECT id, role, uses, expires_seconds, revoked FROM tickets ORDER BY expires_seconds"
        ).all { row in
            let id = row.text(0)
            let users = try self.database.prepare(
                "SELECT device FROM ticket_uses WHERE ticket = ? ORDER BY used_seconds"
            ).all(id) { DeviceID(bytes: $0.bytes(0)) }
            return TicketStatus(
                id: id, role: Role(rawValue: row.text(1)) ?? .member, uses: row.int(2),
                expires: row.uint64(3), isRevoked: row.bool(4), usedBy: users.compactMap { $0 })
        }
    }
}

extension Transaction {
    /// Founds a space with this device as its owner, if it is in none.
    func foundSpaceIfAlone() throws {
        guard state.space == .alone else { return }
        let nonce = SecretBytes.random(count: 32)
        try adopt(SpaceID.founded(by: key.spki, nonce: nonce))
        try state(.founding(nonce: nonce))
    }

    /// In seconds: what lasts longer lasts for ever.
    private static let longestLifetime: UInt64 = 1 << 40

    /// Makes a ticket of this device's space, which it founds where it is in none.
    ///
    /// Throws `notAllowed` in a shared-key space and for whoever is not an owner.
    public func makeTicket(
        role: Role, uses: Int, lifetimeSeconds: UInt64, addresses: [String]
    ) throws -> Ticket {
        guard state.sharedKey == nil else {
            throw ChuteError(
                .notAllowed,
                "this space has a shared key: copy the key file to the other device instead")
        }
        try foundSpaceIfAlone()
        guard state.membership.role(of: device) == .owner else {
            throw ChuteError(.notAllowed, "only an owner of the space can invite: ask one")
        }
        let ticket = Ticket(
            space: state.space, inviter: device,
            secret: SecretBytes.random(count: Ticket.secretByteCount), addresses: addresses,
            expires: now / 1000 + min(lifetimeSeconds, Self.longestLifetime))
        try database.prepare(
            "INSERT INTO tickets (id, secret, role, uses, expires_seconds) VALUES (?, ?, ?, ?, ?)"
        ).run(ticket.id, ticket.secretHash.bytes, role.rawValue, uses, ticket.expires)
        touched.insert(.members)
        return ticket
    }

    /// Ends a ticket; `false` where there is none with this id.
    public func revokeTicket(_ id: String) throws -> Bool {
        try database.prepare("UPDATE tickets SET revoked = 1 WHERE id = ?").run(id)
        return database.changes > 0
    }

    /// Admits `joiner` for the secret of a ticket; use and admission are one step, and the same
    /// device may repeat it. The reason why not, otherwise: never where the ticket would give a
    /// member nothing that it does not have.
    func redeemTicket(secret: [UInt8], for joiner: DeviceID) throws -> GoodbyeReason? {
        let hash = Digest(hashing: Array("chute ticket 1".utf8), secret)
        let row = try database.prepare(
            "SELECT id, role, uses, expires_seconds, revoked FROM tickets WHERE secret = ?"
        ).first(hash.bytes) { row in
            Role(rawValue: row.text(1)).map { role in
                TicketStatus(
                    id: row.text(0), role: role, uses: row.int(2), expires: row.uint64(3),
                    isRevoked: row.bool(4), usedBy: [])
            }
        }
        guard let ticket = row ?? nil else { return .ticketUnknown }
        let hasUsed =
            try database.prepare(
                "SELECT 1 FROM ticket_uses WHERE ticket = ? AND device = ?"
            ).first(ticket.id, joiner.digest.bytes) { _ in true } ?? false
        let role = state.membership.role(of: joiner)
        if let refusal = refusal(of: ticket, hasUsed: hasUsed, isMember: role != nil) {
            return role?.includes(ticket.role) ?? false ? nil : refusal
        }
        guard !hasUsed else { return nil }
        try database.prepare("UPDATE tickets SET uses = uses - 1 WHERE id = ?").run(ticket.id)
        try database.prepare("INSERT INTO ticket_uses VALUES (?, ?, ?)")
            .run(ticket.id, joiner.digest.bytes, now / 1000)
        try admit(joiner, as: ticket.role)
        return nil
    }

    private func refusal(
        of ticket: TicketStatus, hasUsed: Bool, isMember: Bool
    ) -> GoodbyeReason? {
        // Whoever is no owner any more lets nobody in.
        guard state.membership.role(of: device) == .owner, !ticket.isRevoked else {
            return .ticketRevoked
        }
        if now / 1000 >= ticket.expires { return .ticketExpired }
        // Admitted by this ticket before and removed since: that takes a new ticket.
        if hasUsed { return isMember ? nil : .ticketUsedUp }
        return ticket.uses > 0 ? nil : .ticketUsedUp
    }

    /// Admits a device, also one that was removed: the admission names those removals.
    func admit(_ joiner: DeviceID, as role: Role) throws {
        let cancels = state.membership.pastRemovals[joiner] ?? []
        try state(.admission(device: joiner, role: role, cancels: cancels.sorted()))
    }

    /// Gives a member another role; nothing happens where it has that. For less than it has it is
    /// removed and admitted anew in one step: what it stated as an owner still counts.
    ///
    /// Throws `notAllowed` in a shared-key space, for whoever is not an owner, and for an owner
    /// that wants less itself; `notFound` for who is no member.
    public func setRole(_ role: Role, of member: DeviceID) throws {
        guard state.sharedKey == nil else {
            throw ChuteError(
                .notAllowed, "whoever holds the key file is a member: such a space has no roles")
        }
        guard state.membership.role(of: device) == .owner else {
            throw ChuteError(.notAllowed, "only an owner of the space can change a role")
        }
        guard let old = state.membership.role(of: member) else {
            throw ChuteError(.notFound, "\(member.short) is no member of this space")
        }
        guard old != role else { return }
        guard role.includes(old) || member != device else {
            throw ChuteError(
                .notAllowed, "nobody takes back its own ownership: ask another owner to do it")
        }
        if !role.includes(old) { try removeMember(member) }
        try admit(member, as: role)
    }

    /// Removes a member; what it writes from now on is hidden everywhere.
    ///
    /// Throws `notAllowed` in a shared-key space and for whoever is not an owner.
    public func removeMember(_ member: DeviceID) throws {
        guard state.sharedKey == nil else {
            throw ChuteError(
                .notAllowed,
                "whoever holds the key file is a member: make a new key with "
                    + "chute init --shared-key FILE in new homes and copy it to those who stay")
        }
        guard state.membership.role(of: device) == .owner else {
            throw ChuteError(.notAllowed, "only an owner of the space can remove a member")
        }
        guard state.membership.isMember(member) else {
            throw ChuteError(.notFound, "\(member.short) is no member of this space")
        }
        let cutoff = try highestCounter(of: member)
        try state(.removal(device: member, cutoff: cutoff))
    }

    /// Makes the space of `ticket` this device's own, before the inviter's facts come.
    ///
    /// Throws `alreadyInSpace` for a device that shares with others.
    func join(_ ticket: Ticket) throws {
        if state.space == ticket.space { return }
        if state.sharedKey != nil || state.membership.members.count > 1 {
            throw ChuteError(
                .alreadyInSpace,
                "this device is in a space with others: `chute leave` first (keeps all files)")
        }
        try adopt(ticket.space)
    }

    /// Leaves the space and forgets its members; own documents and all files stay.
    public func leaveSpace() throws {
        guard state.sharedKey == nil else {
            throw ChuteError(
                .notAllowed,
                "this space has a shared key: set shared_key = \"\" in the configuration instead")
        }
        try adopt(.alone)
    }

    /// A peer knows own changes up to `counter`: own counting goes on after it.
    func noteCounter(_ counter: UInt64) throws {
        guard counter > state.counter, counter < UInt64(Int64.max) / 2 else { return }
        state.counter = counter
        touched.insert(.requests)
    }
}
