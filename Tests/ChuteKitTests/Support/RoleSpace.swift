import ChuteSystem
import TestSupport

@testable import ChuteKit

/// One owner with a member and two that only send, each with a name and a file of its own.
struct RoleSpace: Sendable {
    let owner: TestEngine
    let member: TestEngine
    let sender: TestEngine
    let other: TestEngine
    /// What the sender shared.
    let own: OwnedDocument
    /// What the member and the other sender shared.
    let foreign: [OwnedDocument]

    /// What nobody but owners may tell the sender.
    static let names = ["bruno-laptop", "carla-camera", "bruno-secret.jpg", "carla-secret.jpg"]

    static func with(_ body: (RoleSpace) async throws -> Void) async throws {
        try await withTemporaryDirectory { folder in
            var engines: [TestEngine] = []
            for name in ["owner", "member", "sender", "other"] {
                engines.append(try await TestEngine(folder.appending(BytePath(name))))
            }
            do { try await body(RoleSpace(engines)) } catch {
                for engine in engines {
                    for line in engine.said.suffix(40) { print(engine.home.lastComponent, line) }
                    await engine.stop()
                }
                throw error
            }
            for engine in engines { await engine.stop() }
        }
    }

    private init(_ engines: [TestEngine]) async throws {
        (owner, member) = (engines[0], engines[1])
        (sender, other) = (engines[2], engines[3])
        try await owner.publish("olga")
        try await member.publish(Self.names[0])
        try await sender.publish("sam")
        try await other.publish(Self.names[1])
        try await owner.invite(member)
        try await owner.invite(other, role: .sender)
        try await owner.invite(sender, role: .sender)
        foreign = [
            try await member.share(Array("bytes of bruno".utf8), as: BytePath(Self.names[2])),
            try await other.share(Array("bytes of carla".utf8), as: BytePath(Self.names[3])),
        ]
        own = try await sender.share(Array("bytes of sam".utf8), as: "sam.jpg")
        for document in foreign + [own] {
            try await owner.awaitDocument(document)
            try await member.awaitDocument(document)
            for engine in [owner, member] { try await engine.acknowledge(document) }
        }
    }

    /// Waits until what the owner writes now has come to the sender, and with it all before.
    func awaitSender() async throws {
        let name = "olga \(UInt64.random(in: 0 ... .max))"
        try await owner.publish(name)
        try await eventually("the sender heard of the owner") {
            try await sender.members().contains { $0.profile?.name == name }
        }
    }

    /// Bytes that the sender must not have: of devices, documents and files of the others.
    var secrets: [[UInt8]] {
        let devices = [member, other].map(\.chute.device)
        return devices.map(\.digest.bytes) + devices.map { Array($0.short.utf8) }
            + foreign.map(\.id.bytes) + foreign.map(\.versionID.bytes)
            + foreign.compactMap(\.attachment).map(\.digest.bytes)
            + Self.names.map { Array($0.utf8) } + [Array("bytes of bruno".utf8)]
            + [Array("bytes of carla".utf8)]
    }
}

extension OwnedDocument {
    /// What its token names.
    var attachment: AttachmentID? { fields?["token"]?.attachmentToken?.id }
}

extension TestEngine {
    func publish(_ name: String) async throws {
        let address = try await address()
        try await chute.store.write {
            try $0.publish(DeviceProfile(name: name, addresses: [address], collections: []))
        }
    }

    /// Says that a document was delivered here.
    func acknowledge(_ document: OwnedDocument) async throws {
        try await chute.store.write {
            try $0.state(
                Receipt(
                    collection: document.collection, document: document.id,
                    version: document.versionID, state: .delivered))
        }
    }

    func receipts(for document: OwnedDocument) async throws -> [DeviceID: Receipt] {
        try await chute.store.read { try $0.receipts(for: document) }
    }
}
