import ChuteSystem
import DropFolder
import TestSupport
import Testing

@testable import ChuteKit

/// Changes that no honest device sends, to a running agent: nobody speaks for another.
@Suite(.timeLimit(.minutes(3)))
struct ForgeryTests {
    private static let collection = "pics"

    /// Makes signed pages of changes.
    private struct Forger {
        let space: SpaceID
        let key: DeviceKey
        var device: DeviceID { DeviceID(publicKey: key.spki) }

        func document(
            _ name: String, of author: DeviceID, seed: Digest, version: UInt64 = 1,
            stamp: Stamp = Stamp(milliseconds: 1),
            attachment: AttachmentID? = nil
        ) -> Change {
            let token = AttachmentToken(id: attachment ?? Self.attachment)
            let file = FileDocument(
                token: token, path: [Array(name.utf8)], modified: 0, mode: 0o644,
                type: "image/jpeg")
            return Change(
                kind: .owned, author: author, counter: 1000, stamp: stamp,
                collection: ForgeryTests.collection,
                document: Change.ownedDocument(
                    of: author, in: ForgeryTests.collection, seed: seed), version: version,
                seed: seed, body: file.fields.cbor)
        }

        static let attachment: AttachmentID = {
            guard let digest = Digest(bytes: SHA256.hash([1])),
                let id = AttachmentID(digest: digest, byteCount: 1)
            else { preconditionFailure("32 bytes") }
            return id
        }()

        func batch(_ changes: [Change], in space: SpaceID? = nil) -> SignedBatch {
            SignedBatch(signing: changes.map(\.hash), in: space ?? self.space, with: key)
        }
    }

    private func page(
        _ batch: SignedBatch, _ changes: [Change], signature: [UInt8]? = nil,
        header: [UInt8]? = nil
    ) -> CBOR {
        let part = ChangePage.Part(
            header: header ?? batch.header, signature: signature ?? batch.signature,
            changes: changes.map(\.bytes))
        return ChangePage(parts: [part], end: nil).cbor
    }

    @Test func `no change that was forged is taken, and the real ones are`() async throws {
        var random = SeededGenerator(seed: 95)
        let photos = (0..<2).map { _ in SampleFiles.photo(50_000, using: &random) }
        try await AgentPair.running { pair, agents in
            try pair.pi.drop(photos[0], as: "real.jpg")
            try await pair.laptop.awaitOutbox(
                FolderTree(files: ["pi/real.jpg": .init(photos[0])]))
            let bytes = try FileDescriptor.open(pair.key, FileDescriptor.readOnly)
                .read(count: 32, at: 0)
            let space = try #require(SharedKey(bytes: bytes)).space
            let forger = Forger(space: space, key: try DeviceKey.generate())
            let pi = try #require(DeviceID(try await pair.pi.status().device.id))
            let real = try await realDocument(at: pair.laptop, of: pi)
            let seed = Digest.seed([.string("forged")])

            let peer = try await RawPeer(at: "\(pair.port.address)")
            try await peer.enter(key: bytes)
            func send(_ page: CBOR) async throws {
                try await peer.send(.changes, page)
                try await peer.next(.acknowledge)
            }
            // A new version of the pi's document, signed by somebody else.
            let version = forger.document("taken.jpg", of: pi, seed: real.seed, version: 99)
            #expect(version.document == real.id)
            try await send(page(forger.batch([version]), [version]))
            // A document of its own under the id of the pi's.
            let own = forger.document("own.jpg", of: forger.device, seed: seed)
            let stolen = Change(
                kind: .owned, author: forger.device, counter: 1001, stamp: own.stamp,
                collection: own.collection, document: real.id, version: 99, seed: real.seed,
                body: own.body)
            try await send(page(forger.batch([stolen]), [stolen]))
            // Wrong signatures, another space, a change that was not signed.
            let batch = forger.batch([own])
            try await send(page(batch, [own], signature: batch.signature.reversed()))
            try await send(page(batch, [own], signature: []))
            let other = forger.batch([version], in: .alone)
            try await send(page(other, [version]))
            try await send(page(batch, [own, version]))
            // A stamp after the year 9999, an empty file with a hash that none has.
            let late = forger.document(
                "late.jpg", of: forger.device, seed: seed, stamp: Stamp(rawValue: .max))
            try await send(page(forger.batch([late]), [late]))
            let empty = forger.document(
                "empty.jpg", of: forger.device, seed: seed,
                attachment: AttachmentID(digest: Forger.attachment.digest, byteCount: 0))
            try await send(page(forger.batch([empty]), [empty]))

            try pair.pi.drop(photos[1], as: "next.jpg")
            try await pair.laptop.awaitOutbox(
                FolderTree(files: [
                    "pi/real.jpg": .init(photos[0]), "pi/next.jpg": .init(photos[1]),
                ]))
            try await pair.pi.awaitReceipts(2)
            let list = try await pair.laptop.chute("list").output
            for name in ["taken", "own", "late", "empty"] { #expect(!list.contains(name)) }
            #expect(try await realDocument(at: pair.laptop, of: pi).version == real.version)
            #expect(try agents[0].log.contains("refused 1 changes"))
        }
    }

    /// The document of `origin` that an agent has.
    private func realDocument(at home: AgentHome, of origin: DeviceID) async throws -> OwnedDocument
    {
        let reader = try StoreReader(
            path: home.path.appending("state/chute.db"), device: origin)
        let documents = try await reader.read {
            try $0.documents(in: Self.collection, learnedAfter: 0, limit: 100)
        }
        return try #require(documents.first { $0.origin == origin })
    }
}
