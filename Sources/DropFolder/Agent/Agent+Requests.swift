package import ChuteKit
import ChuteSystem
import Glibc

/// Doing what the command line asks.
extension Agent {
    /// One after the other, but for those that take long, a few of which go on beside the others.
    func answerRequests() async throws {
        let begun = SlowRequests()
        try await withThrowingDiscardingTaskGroup { group in
            for await _ in chute.store.updates(of: .requests) {
                while true {
                    let open = try await chute.store.read { try $0.openRequests() }
                    guard let (number, body) = begun.next(of: open) else { break }
                    guard let request = body.flatMap(AgentRequest.init),
                        SlowRequests.isSlow(request)
                    else {
                        try await reply(to: number, body)
                        continue
                    }
                    begun.insert(number, request)
                    group.addTask {
                        try await self.reply(to: number, body)
                        begun.remove(number)
                        self.chute.store.look(at: .requests)  // others may wait for their turn
                    }
                }
            }
            group.cancelAll()
        }
    }

    private func reply(to number: Int64, _ body: Fields?) async throws {
        let answer = await self.answer(body)
        try await chute.store.write { try $0.answer(number, with: answer) }
    }

    /// Does what a row asks, if somebody still waits for it.
    private func answer(_ body: Fields?) async -> Fields {
        guard let body, let request = AgentRequest(body),
            let deadline = AgentRequest.deadline(of: body)
        else {
            return ["error": .string("invalid"), "message": .string("unknown request")]
        }
        guard !deadline.hasPassed(at: .now) else {
            log.notice("a request that nobody waits for any more was not done")
            return [
                "error": .string("expired"),
                "message": .string("nobody waited for it any more: it was not done"),
            ]
        }
        return await answer(request)
    }

    func watchNudges() async throws {
        let nudges = Nudges(
            folder: home.stateFolder, name: BytePath(AttachedStore.nudgeName), log: log)
        try await nudges.run { self.chute.store.look(at: .requests) }
    }

    /// Does what is asked. What went wrong is in the answer: a code, and a sentence.
    package func answer(_ request: AgentRequest) async -> Fields {
        do {
            switch request {
            case .status: return try await liveStatus()
            case .doctor: return try await examine()
            case .invite(let role, let uses, let seconds):
                return try await invite(role, uses, seconds)
            case .revoke(let id):
                return ["found": .bool(try await chute.revokeTicket(id))]
            case .join(let text): return try await join(text)
            case .leave(let isForced): return try await leave(isForced: isForced)
            case .remove(let device):
                try await chute.remove(device)
                return [:]
            case .setRole(let device, let role):
                try await chute.setRole(role, of: device)
                return [:]
            case .redeliver(let target): return try await redeliver(target)
            case .retract(let target): return try await retract(target)
            }
        } catch let error as ChuteError {
            return [
                "error": .string(error.code.description), "message": .string(error.description),
            ]
        } catch {
            return ["error": .string("failed"), "message": .string("\(error)")]
        }
    }

    private func invite(_ role: Role, _ uses: Int, _ seconds: Int64) async throws -> Fields {
        let ticket = try await chute.invite(
            role: role, uses: uses, lifetime: .seconds(max(1, seconds)),
            addresses: try await ticketAddresses())
        return [
            "ticket": .string(ticket.description), "id": .string(ticket.id),
            "expires": .integer(Int64(clamping: ticket.expires)),
            "addresses": .array(ticket.addresses.map { .string($0) }),
        ]
    }

    private func join(_ text: String) async throws -> Fields {
        guard let ticket = Ticket(text) else {
            throw ChuteError(.invalid, "this is no ticket: it begins with chute1:")
        }
        // Who was removed is no member, whatever its own facts say.
        let isOut = await !chute.removedBy.isEmpty
        let former = try await chute.store.read { snapshot in
            try !isOut && snapshot.space() == ticket.space ? Self.ownRole(snapshot) : nil
        }
        // A member uses a ticket that may make it an owner.
        var refusal: ChuteError?
        if former != .owner {
            try await publishProfile()
            do { try await chute.join(ticket) } catch let error as ChuteError where former != nil {
                log.debug("a member came with a ticket: \(error)")
                refusal = error
            }
        }
        if let former, former != .owner, refusal == nil { try await awaitPromotion(from: former) }
        let (code, words) = (refusal?.code.description, refusal?.description)
        return try await chute.store.read { snapshot in
            let role = try Self.ownRole(snapshot)
            let name = try snapshot.profile(of: ticket.inviter)?.name
            return [
                "space": .string(ticket.space.description),
                "member": .bool(former != nil),
                "promoted": .bool(former != nil && former != role && role == .owner),
                "inviter": .string(name ?? ticket.inviter.short),
                "refusal": .optional(code.map { .string($0) }),
                "why": .optional(words.map { .string($0) }),
            ]
        }
    }

    /// Waits a moment for what a ticket may have made of a member: which role it is for, only its
    /// maker knows.
    private func awaitPromotion(from role: Role) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in self.chute.store.updates(of: .members) {
                    if try await self.chute.store.read(Self.ownRole) != role { return }
                }
            }
            group.addTask { try await Task.pause(for: .seconds(2)) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static func ownRole(_ snapshot: Snapshot) throws -> Role? {
        try snapshot.members().first { $0.id == snapshot.device }?.role
    }

    /// Leaves the space. Refused for its only owner while others are in it, unless forced: nobody
    /// could admit or remove anybody from then on.
    private func leave(isForced: Bool) async throws -> Fields {
        do {
            let left = try await chute.leave(isForced: isForced)
            return [
                "space": .optional((left.space?.description).map { .string($0) }),
                "members": .integer(Int64(left.otherCount)),
                "name": .string(configuration.deviceName),
            ]
        } catch let error as ChuteError where error.code == .onlyOwner {
            throw ChuteError(
                .notAllowed,
                "this device is the only owner of a space with others, and nobody could invite "
                    + "or remove anybody without it: make another one an owner (`chute peers role "
                    + "NAME owner`), or say `chute leave --force`")
        }
    }

    /// Delivers again what the user removed, or what was refused, by document or by path.
    private func redeliver(_ target: BytePath) async throws -> Fields {
        var count = 0
        for folder in folders.all {
            guard let outbox = folder.outbox, let writer = writers[outbox.root] else { continue }
            count += try await writer.redeliver(target)
        }
        return ["count": .integer(Int64(count))]
    }
}
