import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// What the command line asked, as an agent finds it.
@Suite(.timeLimit(.minutes(1)))
struct AgentRequestTests {
    /// An agent that does not run yet, in a space of its own; and the store beside it.
    private func withAgent(
        _ body: (Agent, AttachedStore, BytePath) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { top in
            let home = try Home.locate(
                top.appending("home"), environment: ProcessEnvironment([:]), currentFolder: "/")
            var configuration = Configuration()
            configuration.device.name = "laptop"
            configuration.tcp.listen = .off
            let agent = try await Agent.open(
                home: home, configuration: configuration, log: Log(showsPriority: false))
            let store = try #require(try AttachedStore(home.stateFolder))
            try await body(agent, store, home.stateFolder)
        }
    }

    private func running(_ agent: Agent, _ body: () async throws -> Void) async throws {
        let running = Task { try await agent.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        running.cancel()
        _ = await running.result
        try result.get()
    }

    private func answer(_ store: AttachedStore, to number: Int64) async throws -> Fields {
        var found: Fields?
        try await eventually("an answer to \(number)") {
            found = try await store.answer(to: number)
            return found != nil
        }
        return try #require(found)
    }

    // Who looks at the status every second left megabytes for the next ones to read.
    @Test func `an answer that was taken leaves nothing behind`() async throws {
        try await withAgent { agent, store, _ in
            try await running(agent) {
                for _ in 0..<5 {
                    let number = try await store.ask(AgentRequest.status.fields)
                    _ = try await answer(store, to: number)
                    #expect(try await store.answer(to: number) == nil)
                }
                let count = try await store.read {
                    try $0.database.prepare("SELECT count(*) FROM requests").first { $0.int(0) }
                }
                #expect(count == 0)
            }
        }
    }

    @Test func `what nobody waits for any more is not done when the agent starts`() async throws {
        try await withAgent { agent, store, _ in
            let invitation = AgentRequest.invite(role: .member, uses: 1, seconds: 60)
            _ = await agent.answer(invitation)  // makes a space
            let space = try #require(try await store.read { try $0.space() })
            let now = BootMoment.now
            let late = try await store.ask(AgentRequest.leave().fields(until: now))
            let otherBoot = BootMoment(boot: [1], nanoseconds: .max)
            let beforeBoot = try await store.ask(AgentRequest.leave().fields(until: otherBoot))
            let bare = try await store.ask(AgentRequest.leave().fields)
            let inTime = try await store.ask(
                invitation.fields(until: now.advanced(by: .seconds(3600))))
            try await running(agent) { () async throws in
                for number in [late, beforeBoot] {
                    #expect(try await answer(store, to: number)["error"]?.string == "expired")
                }
                #expect(try await answer(store, to: bare)["error"]?.string == "invalid")
                #expect(try await answer(store, to: inTime)["ticket"]?.string != nil)
            }
            #expect(try await store.read { try $0.space() } == space)
        }
    }

    @Test func `a request that is no request is answered, and the agent goes on`() async throws {
        try await withAgent { agent, store, folder in
            let path = folder.appending("chute.db")
            do {
                let database = try Connection(path: path, mode: .readWrite)
                for body: [UInt8] in [[0xFF], [], [0x9B, 0, 0, 0, 0, 0x40, 0, 0, 0]] {
                    try database.prepare(
                        "INSERT INTO requests (body, made_seconds) VALUES (?, ?)"
                    ).run(body, StoreWriter.milliseconds() / 1000)
                }
            }
            // More than are looked at in one go.
            let deadline = BootMoment.now.advanced(by: .seconds(3600))
            var numbers: [Int64] = []
            for _ in 0..<100 {
                numbers.append(try await store.ask(["ask": .string("nonsense")]))
            }
            numbers.append(try await store.ask(AgentRequest.status.fields(until: deadline)))
            try await running(agent) { () async throws in
                let last = try #require(numbers.last)
                #expect(try await answer(store, to: last)["states"] != nil)
                for number in [1, 2, 3] + numbers.dropLast() {
                    #expect(try await answer(store, to: number)["error"]?.string == "invalid")
                }
            }
        }
    }

    @Test func `what is withdrawn before it is answered is not done`() async throws {
        try await withAgent { agent, store, _ in
            let deadline = BootMoment.now.advanced(by: .seconds(3600))
            let asked = try await store.ask(AgentRequest.leave().fields(until: deadline))
            #expect(try await store.withdraw(asked))
            let status = try await store.ask(AgentRequest.status.fields(until: deadline))
            try await running(agent) { () async throws in
                try await eventually("an answer") {
                    try await store.read { try $0.openRequests().isEmpty }
                }
                #expect(try await store.answer(to: asked) == nil)
                #expect(try await !store.withdraw(status))
                #expect(try await store.answer(to: status) != nil)
            }
        }
    }

    @Test func `a moment has passed once it is over, or the machine was started anew`() {
        let moment = BootMoment(boot: [1], nanoseconds: 10)
        #expect(!moment.hasPassed(at: BootMoment(boot: [1], nanoseconds: 9)))
        #expect(moment.hasPassed(at: BootMoment(boot: [1], nanoseconds: 10)))
        #expect(moment.hasPassed(at: BootMoment(boot: [2], nanoseconds: 0)))
        #expect(moment.advanced(by: .milliseconds(2)).nanoseconds == 2_000_010)
        #expect(moment.advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        #expect(BootMoment.now.boot == BootMoment.now.boot)
    }
}
