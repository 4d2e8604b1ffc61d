import ChuteKit
import ChuteSystem
import DropFolder

/// The agent of a home: asked through the database where one runs, else opened here for as long
/// as the command needs it.
struct HomeAgent: AgentAccess {
    let home: Home
    let log: Log

    private static let answerTimeout = Duration.seconds(60)

    var runner: HomeRunner { HomeRunner(home: home, log: log) }

    func isRunning() -> Bool { DirectoryLock.isHeld(in: home.stateFolder) }

    func run(moved: Bool) async throws -> ExitCode { try await runner.run(moved: moved) }

    /// Asks the running agent, or opens one for this.
    func ask(_ request: AgentRequest, needsNetwork: Bool = false) async throws -> Fields {
        if isRunning() {
            return try await askRunning(request)
        }
        return try await runner.withAgent(runs: needsNetwork) {
            try await Self.check($0.answer(request))
        }
    }

    private func askRunning(
        _ request: AgentRequest, timeout: Duration = answerTimeout
    ) async throws -> Fields {
        guard let store = try AttachedStore(home.stateFolder) else {
            throw CommandError(.unavailable, "the agent is still starting: try again")
        }
        let until = BootMoment.now.advanced(by: timeout)
        let number = try await store.ask(request.fields(until: until))
        let deadline = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(5)
        while ContinuousClock.now < deadline {
            if let answer = try await store.answer(to: number) { return try Self.check(answer) }
            guard isRunning() else { break }
            try await Task.pause(for: pause)
            pause = min(pause * 2, .milliseconds(100))
        }
        // Not done behind the back of a person who was told that it is not.
        guard try await store.withdraw(number) else {
            guard let answer = try await store.answer(to: number) else { throw Self.silence }
            return try Self.check(answer)
        }
        throw Self.silence
    }

    private static var silence: CommandError {
        CommandError(.unavailable, "the agent does not answer: look at its log, or restart it")
    }

    /// The answer, or the error that it carries.
    private static func check(_ answer: Fields) throws -> Fields {
        guard let code = answer["error"]?.string else { return answer }
        throw RequestError(
            code: code, message: answer["message"]?.string ?? "the agent says no")
    }

    /// Looks at the database beside whoever runs; `nil` before there is one.
    func read<Result: Sendable>(
        _ body: @Sendable (Snapshot) throws -> Result
    ) async throws -> Result? {
        do {
            guard let store = try AttachedStore(home.stateFolder) else { return nil }
            return try await store.read(body)
        } catch { throw CommandError.told(error) }
    }

    func leaveOutExisting() async throws -> ExistingFiles {
        guard !isRunning() else {
            throw CommandError(
                .heldElsewhere, "an agent runs on this home: stop it before --existing skip")
        }
        // What lies there is said to be left out, not to be shared from now on.
        let quiet = HomeRunner(home: home, log: Log(level: .warning, showsPriority: false))
        return try await quiet.withAgent(runs: false) { agent in
            let (count, bytes) = try await agent.leaveOutExisting()
            return ExistingFiles(count: count, byteCount: bytes)
        }
    }

    /// What the agent goes by in place of the file, where it says so.
    private func used(_ live: Fields?) throws -> Configuration? {
        try live?["configuration"]?.bytes.map { try LoadedConfiguration($0, home).configuration }
    }

    /// What the agent says, `nil` where none runs, and what is configured; where the file cannot be
    /// used, what the running agent goes by instead. The note says why the agent says nothing.
    private func state() async throws -> (live: Fields?, note: String?, Configuration) {
        let (live, note) = await live()
        if let used = try used(live) { return (live, note, used) }
        do { return (live, note, try runner.configuration()) } catch let error where live != nil {
            guard let noticed = await noticed(), let used = try used(noticed) else { throw error }
            return (noticed, note, used)
        }
    }

    /// What the running agent says once it has noticed that the file cannot be used; `nil` where it
    /// does not within a few seconds.
    private func noticed() async -> Fields? {
        let end = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < end, isRunning() {
            do {
                let live = try await askRunning(.status, timeout: .seconds(3))
                if live["configuration"]?.bytes != nil { return live }
                try await Task.pause(for: .milliseconds(100))
            } catch {
                log.debug("\(error)")
                return nil
            }
        }
        return nil
    }

    func status() async throws -> StatusReport {
        let (live, note, configuration) = try await state()
        let reader = StatusReader(configuration)
        if var report = try await read({ try reader.report($0, live: live) }) {
            if let note { report.notes.append(note) }
            return report
        }
        var report = StatusReport(
            device: .init(id: "", name: configuration.deviceName),
            running: live != nil)
        if let note { report.notes.append(note) }
        return report
    }

    /// What the agent says of itself, `nil` where none runs; and why it is none.
    private func live() async -> (Fields?, String?) {
        let use = runner.use()
        switch use {
        case .none: return (nil, nil)
        case .opening: return (nil, "an agent is about to start: it opens its folders")
        case .command, .running: break
        }
        do { return (try await askRunning(.status, timeout: .seconds(5)), nil) } catch {
            log.debug("\(error)")
        }
        guard use == .running else { return (nil, "a command uses this home at the moment") }
        return ([:], "the agent is too busy to say more")
    }

    func statusUpdates() async throws -> AsyncThrowingStream<StatusReport, any Error> {
        AsyncThrowingStream {
            if Task.isCancelled { return nil }
            let report = try await status()
            try await Task.pause(for: .milliseconds(report.transfers.isEmpty ? 1000 : 250))
            return report
        }
    }

    func documents(onlySkipped: Bool) async throws -> DocumentList {
        // What waits for others, and what is being written, only the agent knows.
        let (live, _, configuration) = try await state()
        let reader = StatusReader(configuration)
        return try await read { try reader.documents($0, live: live, onlySkipped: onlySkipped) }
            ?? DocumentList()
    }

    func examine() async throws -> [Finding] {
        let file = ConfigurationCheck(home)
        guard isRunning() else {
            return await Doctor(file.configuration, home, problems: file.problems)
                .findings(live: .notRunning)
        }
        do {
            let answer = try await askRunning(.doctor)
            var configuration = try used(answer) ?? file.configuration
            if configuration == nil { configuration = try used(await noticed()) }
            return await Doctor(configuration, home, problems: file.problems)
                .findings(live: .answered(answer))
        } catch let error where !(error is CancellationError) {
            return await Doctor(file.configuration, home, problems: file.problems)
                .findings(live: .silent("\(error)"))
        }
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
                name: BytePath(bytes: name), count: Int(clamping: answer["count"]?.integer ?? 1),
                had: Int(clamping: answer["had"]?.integer ?? 0),
                delivered: (answer["delivered"]?.array ?? []).compactMap(\.string))
        } catch let error as RequestError { throw CommandError(.failed, error.message) }
    }
}
