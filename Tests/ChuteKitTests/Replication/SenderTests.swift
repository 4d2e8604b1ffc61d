import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// What a device that only sends gets, and what it does not.
@Suite(.timeLimit(.minutes(3)))
struct SenderTests {
    @Test func `a sender learns of owners, of its own files, and of nothing else`() async throws {
        try await RoleSpace.with { space in
            let (owner, sender) = (space.owner, space.sender)
            try await space.awaitSender()
            #expect(
                try await sender.members().map(\.id).sorted()
                    == [owner, sender].map(\.chute.device).sorted())
            #expect(try await sender.documents().map(\.id) == [space.own.id])
            try await eventually("the owner's receipt") {
                try await sender.receipts(for: space.own).keys.map(\.self)
                    == [owner.chute.device]
            }
            let tallies = try await sender.chute.store.read {
                try $0.tallies(of: TestEngine.collection)
            }
            #expect(tallies.keys.map(\.self) == [owner.chute.device])
            #expect(try await sender.chute.store.read { try $0.recipients().count } == 1)
            try await expectNothingForeign(at: sender, space.secrets)
            // The others have everything, and no sender is waited for.
            #expect(try await space.member.documents().count == 3)
            #expect(
                try await owner.chute.store.read { try $0.recipients().map(\.id) }
                    == [space.member.chute.device])
            #expect(
                try await space.member.members().filter(\.isTalkedTo).map(\.id)
                    == [owner.chute.device])
        }
    }

    private func expectNothingForeign(at engine: TestEngine, _ secrets: [[UInt8]]) async throws {
        await engine.stop()
        let files = try FolderTree.paths(below: engine.home)
        #expect(files.contains { $0.description.hasSuffix("chute.db-wal") }, "\(files)")
        for path in files {
            let file = try FileDescriptor.open(engine.home.appending(path), FileDescriptor.readOnly)
            let bytes = try file.read(count: Int(file.status().size), at: 0)
            for secret in secrets {
                #expect(!bytes.holds(secret), "\(path): \(String(decoding: secret, as: UTF8.self))")
            }
        }
    }

    @Test(arguments: [false, true])
    func `nothing of others goes over the wire to a sender, whatever it subscribes to and wants`(
        subscribes: Bool
    ) async throws {
        try await RoleSpace.with { space in
            let address = try await space.owner.address()
            let ticket = try await space.owner.chute.invite(role: .sender)
            let thief = try await RawPeer(at: address)
            let wanted = Subscription(parts: [
                .init(collection: TestEngine.collection, predicate: .all),
                .init(collection: Receipt.replicatedCollection, predicate: .all),
            ])
            try await thief.enter(
                secret: ticket.secret, subscription: subscribes ? wanted.encoded() : nil)
            try await eventually("in session") {
                try await space.owner.members().contains {
                    $0.id == DeviceID(publicKey: thief.key.spki)
                        && $0.presence?.isConnected == true
                }
            }
            // The owner looks for what nobody has: no sender is asked.
            try await space.member.announce(.test(byteCount: 9), as: "nobody")
            try await eventually("told the owner") { try await space.owner.documents().count == 4 }
            try await space.owner.want(.test(byteCount: 9), to: "nobody")
            try await eventually("the member was asked in vain") {
                await space.owner.chute.stalledFetches() == [.test(byteCount: 9)]
            }
            for attachment in space.foreign.compactMap(\.attachment) {
                try await thief.send(
                    .want,
                    PieceRequest.cbor([
                        PieceRequest(number: 7, attachment: attachment, piece: 0, offset: 0)
                    ]))
                let absent = try CBOR.decode(try await thief.next(.absent))
                #expect(absent == .array([.unsigned(7)]))
            }
            try await thief.send(
                .confirm,
                Confirm(number: 3, attachments: space.foreign.compactMap(\.attachment)).cbor)
            #expect(
                try Confirmed(cbor: CBOR.decode(try await thief.next(.confirmed))).words
                    == [false, false])
            let marker = "olga \(UInt64.random(in: 0 ... .max))"
            try await space.owner.publish(marker)
            try await withTimeout(.seconds(30)) {
                while await !thief.heard.holds(Array(marker.utf8)) {
                    try await thief.next(.changes)
                    try await thief.send(.acknowledge, .map([0: .unsigned(0)]))
                }
            }
            let heard = await thief.heard
            #expect(heard.holds(space.owner.chute.device.digest.bytes))
            let sam = space.sender.chute.device.digest.bytes
            let nobody = AttachmentID.test(byteCount: 9).digest.bytes
            for secret in space.secrets + [sam, space.own.id.bytes, nobody] {
                #expect(!heard.holds(secret), "\(String(decoding: secret, as: UTF8.self))")
            }
        }
    }

    @Test func `naming what it heard of elsewhere gives a sender nothing, its own comes back`()
        async throws
    {
        try await RoleSpace.with { space in
            let sender = space.sender
            for document in space.foreign + [space.own] {
                let attachment = try #require(document.attachment)
                try await space.owner.want(attachment, to: BytePath("copy-\(document.id.hex)"))
            }
            try await space.owner.awaitFetched(3)
            for document in space.foreign + [space.own] {
                try await space.owner.hold(BytePath("copy-\(document.id.hex)"))
            }
            let stolen = try #require(space.foreign[0].attachment)
            let claim = try await sender.announce(stolen, as: "claim.jpg")
            try await space.owner.awaitDocument(claim)
            try await sender.want(stolen, to: "stolen")
            // Its own bytes are lost, and come back.
            let own = try #require(space.own.attachment)
            try await sender.chute.store.write {
                try $0.removeLocation(root: sender.root, path: "sam.jpg")
            }
            try await sender.want(own, to: "sam-again.jpg")
            #expect(try await sender.awaitFetched(1).map(\.want.attachment) == [own])
            try await eventually("nobody has the other") {
                await sender.chute.stalledFetches() == [stolen]
            }
        }
    }

    @Test func `members and senders do not let each other in`() async throws {
        try await RoleSpace.with { space in
            let ticket = try await space.owner.chute.invite(role: .sender)
            let sender = try await RawPeer(at: space.owner.address())
            try await sender.enter(secret: ticket.secret)
            let device = DeviceID(publicKey: sender.key.spki)
            try await eventually("the member knows of it") {
                try await space.member.members().contains { $0.id == device && !$0.isTalkedTo }
            }
            let again = try await RawPeer(at: space.member.address(), key: sender.key)
            try await again.send(.prove, .map([0: .unsigned(0)]))
            let goodbye = try CBOR.decode(try await again.next(.goodbye))
            #expect(goodbye[0]?.textValue == "owners-only")
            try await again.awaitEnd()
            // Other senders do not even know that it is one.
            let third = try await RawPeer(at: space.other.address(), key: sender.key)
            try await third.send(.prove, .map([0: .unsigned(0)]))
            #expect(
                try CBOR.decode(try await third.next(.goodbye))[0]?.textValue == "not-a-member")
            for (one, two) in [
                (space.member, space.sender), (space.member, space.other),
                (space.sender, space.other),
            ] {
                #expect(try await !one.isConnected(to: two))
                #expect(try await !two.isConnected(to: one))
            }
        }
    }

    @Test func `members do not dial senders, nor senders anybody but owners`() async throws {
        try await RoleSpace.with { space in
            var addresses: [String] = []
            for engine in [space.member, space.sender, space.other] {
                addresses.append(try await engine.address())
            }
            try await space.awaitSender()
            #expect(await space.member.chute.dialledAddresses.isDisjoint(with: addresses[1...]))
            #expect(await space.sender.chute.dialledAddresses.isDisjoint(with: addresses))
            let owner = try await space.owner.address()
            #expect(await space.sender.chute.dialledAddresses.contains(owner))
        }
    }
}
