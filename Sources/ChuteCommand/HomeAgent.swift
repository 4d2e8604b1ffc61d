import ChuteKit
import ChuteSystem
import DropFolder

/// The agent of a home: asked through the database where one runs, else opened here for as long
/// as the command needs it.
struct HomeAgent: AgentAccess {
    let home: Home
    let log: Log

    private static let answerTimeout = Duration.seconds(60)

    private func configuration() throws -> Configuration {
        guard let found = try Configuration.load(home) else {
            throw CommandError(
                .configuration,
                "nothing is set up at \(home.configurationFile): run `chute init`")
        }
        return found
    }

    func isRunning() -> Bool { DirectoryLock.isHeld(in: home.stateFolder) }

    // MARK: Running

    func run(moved: Bool) async throws -> ExitCode {
        let signals = try SignalSequence([.terminate, .interrupt])  // before anything is held
        let configuration = try configuration()
        for notice in configuration.notices { log.warning("\(home.configurationFile): \(notice)") }
        let agent = try await openWhenFree(configuration, moved)
        try mark(.running)
        let notifier = ServiceNotifier()
        log.notice("\(configuration.deviceName) runs, \(home.stateFolder)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await agent.run {
                    notifier.ready()
                    notifier.status("running")
                }
            }
            group.addTask { for await _ in signals { return } }
            if let interval = notifier.watchdogInterval {
                group.addTask {
                    while true {
                        try await agent.proveAlive()
                        notifier.alive()
                        try await Task.sleep(for: interval)
                    }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
            notifier.stopping()
        }
        return .success
    }

    /// Waits up to a minute for a command that holds the lock, and says so.
    private func openWhenFree(
        _ configuration: Configuration, _ moved: Bool
    ) async throws -> Agent {
        let deadline = ContinuousClock.now + .seconds(60)
        var hasSaid = false
        while true {
            do {
                return try await Agent.open(
                    home: home, configuration: configuration, isMoved: moved, log: log)
            } catch let error as ChuteError
                where error.code == .heldElsewhere && ContinuousClock.now < deadline
            {
                guard isHeldByCommand() else { throw Self.commandError(error) }
                if !hasSaid { log.notice("waits for `chute join` or `chute invite` to end") }
                hasSaid = true
                try await Task.sleep(for: .milliseconds(200))
            } catch { throw Self.commandError(error) }
        }
    }

    /// What holds the lock, as it says in the lock file. All are of one length.
    private enum Holder: String { case command, running }

    private func isHeldByCommand() -> Bool {
        do throws(SystemError) {
            let file = try FileDescriptor.open(
                home.lockFile, FileDescriptor.readOnly)
            let expected = Array(Holder.command.rawValue.utf8)
            return try file.read(count: expected.count, at: 0) == expected
        } catch {
            return false
        }
    }

    // MARK: Asking

    /// Asks the running agent, or opens one for this.
    private func ask(_ request: AgentRequest, needsNetwork: Bool = false) async throws -> Fields {
        if isRunning() {
            return try await askRunning(request)
        }
        return try await withAgent(runs: needsNetwork) { try await Self.check($0.answer(request)) }
    }

    private func askRunning(
        _ request: AgentRequest, timeout: Duration = answerTimeout
    ) async throws -> Fields {
        guard let store = try AttachedStore(home.stateFolder) else {
            throw CommandError(.unavailable, "the agent is still starting: try again")
        }
        let number = try await store.ask(request.fields)
        let deadline = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(5)
        while ContinuousClock.now < deadline {
            if let answer = try await store.answer(to: number) { return try Self.check(answer) }
            guard isRunning() else { break }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(100))
        }
        throw CommandError(
            .unavailable, "the agent does not answer: look at its log, or restart it")
    }

    private func withAgent<Result: Sendable>(
        runs: Bool, _ body: @escaping @Sendable (Agent) async throws -> Result
    ) async throws -> Result {
        let agent: Agent
        do {
            agent = try await Agent.open(home: home, configuration: configuration(), log: log)
            try mark(.command)
        } catch { throw Self.commandError(error) }
        guard runs else { return try await body(agent) }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await agent.run()
                return nil
            }
            group.addTask { try await body(agent) }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let result = first else {
                throw CommandError(.failed, "the agent ended before the command was done")
            }
            return result
        }
    }

    private func mark(_ holder: Holder) throws(SystemError) {
        let file = try FileDescriptor.open(home.lockFile, FileDescriptor.readWrite)
        try file.write(Array(holder.rawValue.utf8), at: 0)
    }

    /// The answer, or the error that it carries.
    private static func check(_ answer: Fields) throws -> Fields {
        guard let code = answer["error"]?.string else { return answer }
        throw RequestError(
            code: code, message: answer["message"]?.string ?? "the agent says no")
    }

    static func commandError(_ error: any Error) -> any Error {
        switch error {
        case let error as AgentError:
            let code: ExitCode =
                switch error.kind {
                case .configuration: .configuration
                case .heldElsewhere: .heldElsewhere
                case .failed: .failed
                }
            return CommandError(code, error.description)
        case let error as ChuteError:
            let code: ExitCode =
                switch error.code {
                case .heldElsewhere: .heldElsewhere
                case .deviceKey, .storeIsNewer, .storeIsDamaged, .file: .configuration
                case .unreachable: .unavailable
                default: .failed
                }
            return CommandError(code, error.description)
        default: return error
        }
    }

    // MARK: The commands

    func leaveOutExisting() async throws -> ExistingFiles {
        guard !isRunning() else {
            throw CommandError(
                .heldElsewhere, "an agent runs on this home: stop it before --existing skip")
        }
        return try await withAgent(runs: false) { agent in
            let (count, bytes) = try await agent.leaveOutExisting()
            return ExistingFiles(count: count, byteCount: bytes)
        }
    }

    func invite(
        role: InviteCommand.Role, uses: Int, expires: Duration
    ) async throws -> Invitation {
        let request = AgentRequest.invite(
            role: role == .owner ? .owner : .member, uses: uses,
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
            reachesOnlyThisNetwork: addresses.allSatisfy {
                SocketAddress($0)?.isPrivate ?? false
            })
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
        let task = Task {
            do {
                if isRunning {
                    try await watch()
                } else {
                    try await self.withAgent(runs: true) { _ in try await watch() }
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
            try await Task.sleep(for: .milliseconds(300))
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
                wasMemberAlready: answer["member"]?.bool ?? false)
        } catch let error as RequestError {
            switch error.code {
            case ChuteError.Code.ticketExpired.description: throw JoinFailure.expired
            case ChuteError.Code.ticketUsedUp.description: throw JoinFailure.usedUp
            case ChuteError.Code.ticketRevoked.description: throw JoinFailure.revoked
            case ChuteError.Code.wrongDevice.description:
                throw JoinFailure.wrongDevice(address: ticket.addresses.first ?? "?")
            case ChuteError.Code.unreachable.description:
                throw JoinFailure.unreachable(addresses: ticket.addresses)
            case ChuteError.Code.alreadyInSpace.description:
                throw JoinFailure.inSpaceWithOthers(members: others?.2 ?? 1)
            default: throw CommandError(.failed, error.message)
            }
        }
    }

    func leave() async throws -> LeaveOutcome {
        do {
            let answer = try await ask(.leave)
            return LeaveOutcome(
                space: answer["space"]?.string,
                members: Int(clamping: answer["members"]?.integer ?? 0))
        } catch let error as RequestError { throw CommandError(.failed, error.message) }
    }

    func peers() async throws -> [StatusReport.Peer] {
        let isRunning = isRunning()
        return try await read { snapshot in
            try snapshot.members().filter { $0.id != snapshot.device }
                .map { StatusReader.peer($0, isRunning: isRunning) }
        } ?? []
    }

    func removePeer(_ nameOrID: String) async throws -> RemovalOutcome {
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
        do { _ = try await ask(.remove(member.id)) } catch let error as RequestError {
            if error.code == ChuteError.Code.notAllowed.description { return .notOwner }
            throw CommandError(.failed, error.message)
        }
        return .removed(
            name: member.profile?.name ?? member.id.short, id: member.id.description)
    }

    func status() async throws -> StatusReport {
        let reader = StatusReader(try configuration())
        var live: Fields?
        if isRunning() {
            do { live = try await askRunning(.status, timeout: .seconds(5)) } catch {
                log.debug("\(error)")
                live = [:]  // it runs, and is too busy to say more
            }
        }
        let told = live
        if let report = try await read({ try reader.report($0, live: told) }) { return report }
        return StatusReport(
            device: .init(id: "", name: try configuration().deviceName), running: live != nil)
    }

    func statusUpdates() async throws -> AsyncThrowingStream<StatusReport, any Error> {
        AsyncThrowingStream {
            if Task.isCancelled { return nil }
            let report = try await status()
            try await Task.sleep(for: .milliseconds(report.transfers.isEmpty ? 1000 : 250))
            return report
        }
    }

    func documents(onlySkipped: Bool) async throws -> DocumentList {
        let reader = StatusReader(try configuration())
        return try await read { try reader.documents($0, onlySkipped: onlySkipped) }
            ?? DocumentList()
    }

    func redeliver(_ target: BytePath) async throws -> Int {
        do {
            let answer = try await ask(.redeliver(target), needsNetwork: true)
            return Int(clamping: answer["count"]?.integer ?? 0)
        } catch let error as RequestError { throw CommandError(.failed, error.message) }
    }

    func retract(_ target: BytePath) async throws -> RetractOutcome {
        do {
            let answer = try await ask(.retract(target))
            if let origin = answer["origin"]?.string { return .notOwn(origin: origin) }
            guard let name = answer["name"]?.bytes else { return .unknown }
            return .retracted(
                name: BytePath(bytes: name),
                delivered: (answer["delivered"]?.array ?? []).compactMap(\.string))
        } catch let error as RequestError { throw CommandError(.failed, error.message) }
    }

    /// Looks at the database beside whoever runs; `nil` before there is one.
    private func read<Result: Sendable>(
        _ body: @Sendable (Snapshot) throws -> Result
    ) async throws -> Result? {
        do {
            guard let store = try AttachedStore(home.stateFolder) else { return nil }
            return try await store.read(body)
        } catch { throw Self.commandError(error) }
    }
}

/// What the agent answered when it could not do something.
private struct RequestError: Error {
    let code: String
    let message: String
}
