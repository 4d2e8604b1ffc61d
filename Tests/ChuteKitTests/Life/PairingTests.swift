import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Tickets, members and leaving, as an application does it.
@Suite(.timeLimit(.minutes(2)))
struct PairingTests {
    private func open(
        _ directory: BytePath, as identity: Chute.Identity = .paired
    ) async throws -> Chute {
        try await Chute.open(
            identity: identity, persistenceDirectory: directory,
            network: .init(listen: "127.0.0.1:0", isPortFixed: true, connect: []),
            diagnostics: .none)
    }

    private func withTwo(_ body: (Chute, Chute, BytePath) async throws -> Void) async throws {
        try await withTemporaryDirectory { folder in
            let owner = try await open(folder.appending("a"))
            let joiner = try await open(folder.appending("b"))
            try await owner.startSync()
            try await body(owner, joiner, folder)
            try await owner.close()
            try await joiner.close()
        }
    }

    private func awaitConnection(_ one: Chute, _ two: Chute) async throws {
        try await eventually("connected") {
            try await one.peers().contains { $0.device == two.device }
        }
    }

    @Test func `a device joins, finds the other again after a new start, and leaves`() async throws
    {
        try await withTwo { owner, joiner, folder in
            let ticket = try await owner.invite()
            #expect(ticket.addresses == (await owner.ownAddresses))
            // Before it replicates: joining is a thing by itself.
            try await joiner.join(try #require(Ticket(ticket.description)))
            #expect(await joiner.space == ticket.space)
            #expect(
                try await owner.members().map(\.role).sorted { $0.rawValue < $1.rawValue } == [
                    .member, .owner,
                ])
            try await joiner.startSync()
            try await awaitConnection(owner, joiner)
            // Where the owner is, it knows from its profile.
            try await eventually("the owner's addresses") {
                let profile = try await joiner.members().first { $0.id == owner.device }?.profile
                return profile?.addresses == (await owner.ownAddresses)
            }
            try await joiner.close()
            let again = try await open(folder.appending("b"))
            try await again.startSync()
            try await awaitConnection(owner, again)

            let error = await #expect(throws: ChuteError.self) { try await owner.leave() }
            #expect(error?.code == .onlyOwner)
            let left = try await again.leave()
            #expect(left == Chute.Departure(space: ticket.space, otherCount: 1))
            #expect(await again.space == nil)
            #expect(try await again.leave() == Chute.Departure(space: nil, otherCount: 0))
            try await owner.remove(again.device)
            #expect(try await owner.members().map(\.id) == [owner.device])
            let gone = await #expect(throws: ChuteError.self) {
                try await owner.remove(again.device)
            }
            #expect(gone?.code == .notFound)
            try await again.close()
        }
    }

    @Test func `a ticket that is not good any more says why`() async throws {
        try await withTwo { owner, joiner, _ in
            let ticket = try await owner.invite()
            #expect(try await owner.revokeTicket(ticket.id))
            #expect(try await !owner.revokeTicket("no-such"))
            let error = await #expect(throws: ChuteError.self) { try await joiner.join(ticket) }
            #expect(error?.code == .ticketRevoked)
            #expect(await joiner.space == nil)
        }
    }

    @Test func `a joiner that the handler refuses hears it`() async throws {
        try await withTwo { owner, joiner, _ in
            owner.connectionHandler = { _ in .refuse }
            let ticket = try await owner.invite()
            let error = await #expect(throws: ChuteError.self) { try await joiner.join(ticket) }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("connection-refused") == true)
        }
    }

    @Test func `numbers and addresses that no ticket can have are refused`() async throws {
        try await withTwo { owner, _, _ in
            let calls: [() async throws -> Ticket] = [
                { try await owner.invite(uses: 0) }, { try await owner.invite(uses: 10_001) },
                { try await owner.invite(lifetime: .zero) },
                { try await owner.invite(lifetime: .seconds(-5)) },
                { try await owner.invite(addresses: ["nowhere"]) },
                { try await owner.invite(addresses: Array(repeating: "a:1", count: 65)) },
            ]
            for call in calls {
                let error = await #expect(throws: ChuteError.self) { _ = try await call() }
                #expect(error?.code == .invalid)
            }
            // As long as a duration can be.
            _ = try await owner.invite(lifetime: .seconds(Int64.max), addresses: [])
        }
    }

    @Test func `a space with a key has no tickets and no removal`() async throws {
        try await withTemporaryDirectory { folder in
            for (name, identity) in [
                ("a", Chute.Identity.development(appName: "pics")),
                ("b", .sharedKey(appID: "pics", key: .test())),
            ] {
                let chute = try await open(folder.appending(BytePath(name)), as: identity)
                let calls: [() async throws -> Void] = [
                    { _ = try await chute.invite() }, { try await chute.remove(chute.device) },
                    { try await chute.leave() },
                ]
                for call in calls {
                    let error = await #expect(throws: ChuteError.self) { try await call() }
                    #expect(error?.code == .notAllowed)
                }
                #expect(try await chute.members().map(\.id) == [chute.device])
                try await chute.close()
            }
        }
    }
}
