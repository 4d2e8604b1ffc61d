import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Roles that change while devices are connected, and who may change them.
@Suite(.timeLimit(.minutes(3)))
struct RoleChangeTests {
    @Test func `a sender that becomes a member gets what it was not to see`() async throws {
        try await RoleSpace.with { space in
            try await space.awaitSender()
            #expect(try await space.sender.documents().count == 1)
            try await space.owner.chute.setRole(.member, of: space.sender.chute.device)
            try await eventually("everything came") {
                try await space.sender.documents().count == 3
            }
            #expect(try await space.sender.members().count == 4)
            try await eventually("the member's receipt, too") {
                try await space.sender.receipts(for: space.own).count == 2
            }
            // And it goes on.
            let late = try await space.member.share([9], as: "late")
            try await space.sender.awaitDocument(late)
        }
    }

    @Test func `a member that becomes an owner is told to senders, with what it said before`()
        async throws
    {
        try await RoleSpace.with { space in
            let member = space.member.chute.device
            try await space.awaitSender()
            try await space.owner.chute.setRole(.owner, of: member)
            try await eventually("the sender knows the new owner, by name") {
                try await space.sender.members().contains {
                    $0.id == member && $0.role == .owner && $0.profile?.name == RoleSpace.names[0]
                }
            }
            try await eventually("its receipt counts") {
                try await space.sender.receipts(for: space.own)[member]?.state == .delivered
            }
            try await space.sender.awaitConnection(to: space.member)
            try await space.awaitSender()
            #expect(try await space.sender.documents().map(\.id) == [space.own.id])
            #expect(try await space.sender.members().count == 3)
        }
    }

    @Test func `only owners invite, remove and change roles`() async throws {
        try await RoleSpace.with { space in
            let member = space.member.chute.device
            for engine in [space.member, space.sender] {
                let chute = engine.chute
                for attempt: @Sendable () async throws -> Void in [
                    { _ = try await chute.invite() },
                    { try await chute.remove(space.owner.chute.device) },
                    { try await chute.setRole(.owner, of: chute.device) },
                ] {
                    let error = await #expect(throws: ChuteError.self) { try await attempt() }
                    #expect(error?.code == .notAllowed)
                    #expect(error?.description.contains("only an owner") ?? false)
                }
                // What one says all the same counts nowhere, not with itself either.
                try await chute.store.write { transaction in
                    try transaction.state(
                        MemberFact.admission(device: chute.device, role: .owner, cancels: []))
                    try transaction.state(
                        MemberFact.removal(device: space.owner.chute.device, cutoff: 0))
                }
                let marker = try await engine.share(
                    [8], as: BytePath("marker-\(chute.device.short)"))
                for witness in [space.owner, space.member] {
                    try await witness.awaitDocument(marker)
                    let roles = try await witness.members()
                    #expect(roles.count == 4)
                    #expect(
                        roles.filter { $0.role == .owner }.map(\.id) == [space.owner.chute.device])
                }
                #expect(
                    try await engine.members().first { $0.id == chute.device }?.role
                        == (chute.device == member ? .member : .sender))
            }
        }
    }

    @Test func `a member that becomes a sender hears of others no more, and is a member again`()
        async throws
    {
        try await RoleSpace.with { space in
            let (owner, member) = (space.owner, space.member)
            try await owner.chute.setRole(.sender, of: member.chute.device)
            try await eventually("it knows") {
                try await member.members().contains {
                    $0.id == member.chute.device && $0.role == .sender
                }
            }
            try await member.awaitConnection(to: owner)
            let foreign = try await space.sender.share([3], as: "foreign.jpg")
            try await owner.awaitDocument(foreign)
            let own = try await member.share([4], as: "own.jpg")
            try await owner.awaitDocument(own)
            try await owner.acknowledge(own)
            try await eventually("the receipt came, after what is not for it") {
                try await member.receipts(for: own)[owner.chute.device] != nil
            }
            #expect(try await member.document(foreign.id) == nil)
            #expect(
                try await member.chute.store.read { try $0.recipients().map(\.id) } == [
                    owner.chute.device
                ])
            try await owner.chute.setRole(.member, of: member.chute.device)
            try await member.awaitDocument(foreign)
        }
    }

    @Test func `an owner that becomes a member lets in nobody, and whom it let in stays`()
        async throws
    {
        try await RoleSpace.with { space in
            let member = space.member.chute
            try await space.owner.chute.setRole(.owner, of: member.device)
            try await eventually("it knows") {
                try await member.members().filter { $0.role == .owner }.count == 2
            }
            let ticket = try await member.invite(
                role: .sender, addresses: [try await space.member.address()])
            let late = try await RawPeer(at: space.member.address())
            try await late.enter(secret: ticket.secret)
            let device = DeviceID(publicKey: late.key.spki)
            try await eventually("the other owner heard") {
                try await space.owner.members().contains { $0.id == device }
            }
            try await space.owner.chute.setRole(.member, of: member.device)
            try await eventually("it knows again") {
                try await member.members().filter { $0.role == .owner }.count == 1
            }
            for chute in [space.owner.chute, member] {
                #expect(try await chute.members().contains { $0.id == device })
            }
            let error = await #expect(throws: ChuteError.self) { _ = try await member.invite() }
            #expect(error?.code == .notAllowed)
        }
    }

    @Test func `nobody takes back its own ownership, and who is no member has no role`()
        async throws
    {
        try await RoleSpace.with { space in
            let owner = space.owner.chute
            try await owner.setRole(.member, of: space.member.chute.device)
            let less = await #expect(throws: ChuteError.self) {
                try await owner.setRole(.member, of: owner.device)
            }
            #expect(less?.code == .notAllowed)
            let nobody = await #expect(throws: ChuteError.self) {
                try await owner.setRole(.owner, of: DeviceID(Digest(hashing: [1])))
            }
            #expect(nobody?.code == .notFound)
        }
    }

    @Test func `a cursor of one view names no place in another`() async throws {
        try await withSharedStores(1) { stores in
            let store = stores[0]
            _ = try await store.write { try $0.insert(["a": 1], in: SharedStore.collection) }
            let device = store.device
            let other = DeviceID(Digest(hashing: [2]))
            func view(_ owners: Set<DeviceID>) -> PeerView {
                PeerView(
                    scope: .sender(
                        SenderScope(device: other, owners: owners, pastOwners: [device])))
            }
            let views = [
                .everything, view([device]), view([device, other]),
                PeerView(
                    subscription: Subscription(parts: [
                        .init(collection: SharedStore.collection, predicate: .all)
                    ])),
            ]
            for (index, mine) in views.enumerated() {
                let end = try await store.reader.read {
                    try $0.changes(after: 0, for: other, since: 0, view: mine).last?.end
                }
                for (number, theirs) in views.enumerated() {
                    let start = try await store.reader.read {
                        try $0.start(after: end, view: theirs)
                    }
                    #expect(start == (index == number ? end?.n : 0))
                }
            }
        }
    }
}
