import ChuteKit
import ChuteSystem
import DropFolder

/// Who belongs to the space.
extension HomeAgent {
    func invite(
        role: InviteCommand.Role, uses: Int, expires: Duration
    ) async throws -> Invitation {
        let request = AgentRequest.invite(
            role: role.granted, uses: uses,
            seconds: expires.components.seconds)
        let answer: Fields
        do { answer = try await ask(request, needsNetwork: true) } catch let error as RequestError {
            throw CommandError(.failed, error.message)
        }
        let addresses = (answer["addresses"]?.array ?? []).compactMap(\.string)
        return Invitation(
            id: answer["id"]?.string ?? "", ticket: answer["ticket"]?.string,
            role: role.rawValue, usesLeft: uses,
            expires: Timestamp(seconds: answer["expires"]?.integer ?? 0), addresses: addresses,
            reachesOnlyThisNetwork: addresses.allSatisfy(Invitation.isOfThisNetwork))
    }

    func invitations() async throws -> [Invitation] {
        let tickets = try await read { try $0.tickets() } ?? []
        let now = Timestamp.now
        return tickets.filter {
            !$0.isRevoked && $0.uses > 0 && Timestamp(seconds: Int64(clamping: $0.expires)) > now
        }.map {
            Invitation(
                id: $0.id, ticket: nil, role: $0.role.rawValue, usesLeft: $0.uses,
                expires: Timestamp(seconds: Int64(clamping: $0.expires)))
        }
    }

    func revokeInvitation(_ id: String) async throws -> Bool {
        try await ask(.revoke(id))["found"]?.bool ?? false
    }

    func joins(of invitation: Invitation) async throws -> AsyncThrowingStream<Joined, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Joined.self)
        let watch: @Sendable () async throws -> Void = {
            try await self.watchJoins(of: invitation, continuation)
        }
        let isRunning = isRunning()
        // The stream outlives this call; dropping it cancels the task.
        let task = Task(executorPreference: WorkerPool.shared) {
            do {
                if isRunning {
                    try await watch()
                } else {
                    try await self.runner.withAgent(runs: true) { _ in try await watch() }
                }
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private func watchJoins(
        of invitation: Invitation,
        _ continuation: AsyncThrowingStream<Joined, any Error>.Continuation
    ) async throws {
        var seen: Set<DeviceID> = []
        while Timestamp.now < invitation.expires {
            let found = try await read { snapshot -> (TicketStatus, [Member])? in
                guard let ticket = try snapshot.tickets().first(where: { $0.id == invitation.id })
                else { return nil }
                return (ticket, try snapshot.members())
            }
            guard let (ticket, members) = found ?? nil, !ticket.isRevoked else { return }
            for device in ticket.usedBy where !seen.contains(device) {
                // Its name comes with its documents, a moment after the admission.
                guard let member = members.first(where: { $0.id == device }),
                    let profile = member.profile
                else { continue }
                seen.insert(device)
                continuation.yield(
                    Joined(
                        name: profile.name, id: device.description,
                        address: member.presence?.address ?? "?", usesLeft: ticket.uses))
            }
            if ticket.uses == 0, seen.count == ticket.usedBy.count { return }
            try await Task.pause(for: .milliseconds(300))
        }
    }

    func join(ticket text: String) async throws -> JoinOutcome {
        guard let ticket = Ticket(text) else { throw JoinFailure.notATicket }
        let others = try await read { snapshot in
            (
                try snapshot.hasSharedKey(), try snapshot.space(),
                try snapshot.members().filter { $0.id != snapshot.device }.count
            )
        }
        if let (hasKey, space, count) = others {
            if hasKey { throw JoinFailure.sharedKeySpace }
            if count > 0, space != ticket.space {
                throw JoinFailure.inSpaceWithOthers(members: count)
            }
        }
        do {
            let answer = try await ask(.join(text), needsNetwork: true)
            return JoinOutcome(
                space: answer["space"]?.string ?? "",
                inviter: answer["inviter"]?.string ?? ticket.inviter.short,
                wasMemberAlready: answer["member"]?.bool ?? false,
                isPromoted: answer["promoted"]?.bool ?? false,
                refusal: answer["refusal"]?.string.map {
                    Self.failure(
                        RequestError(code: $0, message: answer["why"]?.string ?? $0), ticket,
                        others: others?.2)
                })
        } catch let error as RequestError {
            throw Self.failure(error, ticket, others: others?.2)
        }
    }

    private static func failure(
        _ error: RequestError, _ ticket: Ticket, others: Int?
    ) -> JoinFailure {
        switch error.code {
        case ChuteError.Code.ticketExpired.description: .expired
        case ChuteError.Code.ticketUsedUp.description: .usedUp
        case ChuteError.Code.ticketRevoked.description: .revoked
        case ChuteError.Code.wrongDevice.description:
            .wrongDevice(address: ticket.addresses.first ?? "?")
        case ChuteError.Code.unreachable.description: .unreachable(addresses: ticket.addresses)
        case ChuteError.Code.alreadyInSpace.description:
            .inSpaceWithOthers(members: others ?? 1)
        default: .other(error.message)
        }
    }

    func leave(isForced: Bool) async throws -> LeaveOutcome {
        do {
            let answer = try await ask(.leave(isForced: isForced))
            return LeaveOutcome(
                space: answer["space"]?.string,
                members: Int(clamping: answer["members"]?.integer ?? 0),
                name: answer["name"]?.string ?? "")
        } catch let error as RequestError { throw CommandError(.failed, error.message) }
    }

    func hasSharedKey() async throws -> Bool { try await read { try $0.hasSharedKey() } ?? false }

    func peers() async throws -> [StatusReport.Peer] {
        let isRunning = isRunning()
        return try await read { snapshot in
            try snapshot.members().filter { $0.id != snapshot.device }
                .map { StatusReader.peer($0, isRunning: isRunning) }
        } ?? []
    }

    func removePeer(_ nameOrID: String) async throws -> MemberOutcome {
        try await ask(of: nameOrID) { .remove($0) }
    }

    func setRole(_ role: InviteCommand.Role, of nameOrID: String) async throws -> MemberOutcome {
        try await ask(of: nameOrID) { .setRole($0, role.granted) }
    }

    /// Asks the agent for something about one other member, by its name or the beginning of its id.
    private func ask(
        of nameOrID: String, _ request: (DeviceID) -> AgentRequest
    ) async throws -> MemberOutcome {
        let found = try await read { snapshot in
            (
                try snapshot.hasSharedKey(),
                try snapshot.members().filter { $0.id != snapshot.device }
            )
        }
        guard let (hasKey, members) = found else { return .unknown }
        if hasKey { return .sharedKeySpace }
        let wanted = nameOrID.uppercased().filter { $0 != "-" && $0 != " " }
        let matches = members.filter { member in
            member.profile?.name == nameOrID
                || (wanted.count >= 4
                    && member.id.description.filter { $0 != "-" }.hasPrefix(wanted))
        }
        guard let member = matches.first else { return .unknown }
        guard matches.count == 1 else { return .ambiguous(matches.map(\.id.description)) }
        do { _ = try await ask(request(member.id)) } catch let error as RequestError {
            if error.code == ChuteError.Code.notAllowed.description { return .notOwner }
            throw CommandError(.failed, error.message)
        }
        return .done(name: member.profile?.name ?? member.id.short, id: member.id.description)
    }
}

extension InviteCommand.Role {
    fileprivate var granted: Role {
        switch self {
        case .owner: .owner
        case .member: .member
        case .sender: .sender
        }
    }
}
