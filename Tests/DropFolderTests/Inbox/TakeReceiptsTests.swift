import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// What another device's receipts mean for a dropped file and for what is held of it.
@Suite(.timeLimit(.minutes(1)))
struct TakeReceiptsTests {
    private func answers(
        _ engine: TestEngine, _ document: DocumentID, _ keepers: InboxTaker.Keepers? = nil
    ) async throws -> [TakeDecision.Other] {
        try await engine.chute.store.read { snapshot in
            guard let document = try snapshot.document(document, in: "pics") else { return [] }
            return try InboxTaker.receipts(snapshot, keepers)(document)
        }
    }

    /// Whether what is held of it may go, once its name stands empty.
    private func mayGo(_ engine: TestEngine, _ document: DocumentID) async throws -> Bool {
        try await engine.chute.store.read { snapshot in
            let members = try snapshot.members().map(\.id).filter { $0 != snapshot.device }
            return try snapshot.isAnswered(document, in: "pics", by: members)
                && snapshot.isKept(document, in: "pics", by: members)
        }
    }

    @Test func `only a copy that is kept lets the last one here go`() async throws {
        let key = try #require(SharedKey(bytes: [UInt8](repeating: 7, count: 32)))
        try await withTemporaryDirectory { top in
            let origin = try await TestEngine(
                top.appending("origin"), identity: .sharedKey(key))
            let peer = try await TestEngine(
                top.appending("peer"), identity: .sharedKey(key),
                connect: [try await origin.address()])
            do {
                try await check(origin, peer)
            } catch {
                await origin.stop()
                await peer.stop()
                throw error
            }
            await origin.stop()
            await peer.stop()
        }
    }

    private func check(_ origin: TestEngine, _ peer: TestEngine) async throws {
        let attachment = try #require(
            AttachmentID(digest: Digest(hashing: [1]), byteCount: 5))
        let file = FileDocument(
            token: AttachmentToken(id: attachment), path: [Array("a.txt".utf8)], modified: 0,
            mode: 0o644, type: "text/plain")
        let document = try await origin.chute.store.write {
            try $0.put(seed: Digest(hashing: [2]), in: "pics", fields: file.fields)
        }
        try await eventually("the document is at the peer") {
            try await peer.chute.store.read { try $0.document(document.id, in: "pics") } != nil
        }
        try await eventually("the peer is a member without an answer") {
            try await answers(origin, document.id) == [.init()]
        }
        #expect(try await !mayGo(origin, document.id))

        #expect(try await answers(origin, document.id, [:]) == [.init(hasItStill: false)])
        #expect(
            try await answers(origin, document.id, [attachment: [peer.chute.device]])
                == [.init(hasItStill: true)])
        #expect(
            try await answers(origin, document.id, [attachment: [origin.chute.device]])
                == [.init(hasItStill: false)])

        let statements: [(Receipt.State, Bool, TakeDecision.Answer, Bool)] = [
            (.notWanted, false, .notWanted, false),
            (.refused(reason: "too-large"), false, .refused, false),
            (.delivered, false, .delivered, true),
            (.delivered, true, .removed, false),
        ]
        for (state, isRemoved, answer, goes) in statements {
            try await peer.chute.store.write { transaction in
                try transaction.state(
                    Receipt(
                        collection: "pics", document: document.id, version: document.versionID,
                        state: state, isRemoved: isRemoved))
            }
            try await eventually("the answer is \(answer)") {
                try await answers(origin, document.id) == [.init(answer: answer)]
            }
            #expect(try await mayGo(origin, document.id) == goes, "\(answer)")
        }
        // What the origin takes back needs no copy anywhere.
        try await origin.chute.store.write { try $0.retract(document.id, in: "pics") }
        #expect(try await mayGo(origin, document.id))
    }
}
