import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

/// Whether another device still has what it was sent: asked before the last own copy goes.
@Suite(.timeLimit(.minutes(2)))
struct KeptFilesTests {
    private let photo = [UInt8](repeating: 7, count: 200_000)

    @Test func `what lies whole in a kept folder is confirmed, also where it was touched`()
        async throws
    {
        try await withTwoEngines { one, two in
            let document = try await one.share(photo, as: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            let unknown = AttachmentID(digest: Digest(hashing: [1]), byteCount: 7)
            try await two.awaitDocument(document)
            let asked = [id, try #require(unknown)]
            func keepers() async -> [AttachmentID: Set<DeviceID>] {
                await two.chute.keepers(of: asked, among: [one.chute.device])
            }
            let expected: [AttachmentID: Set<DeviceID>] = [id: [one.chute.device]]
            #expect(await keepers() == expected)
            // A touched one is hashed first, and then known.
            chmod(try #require(one.files.appending("photo").string), 0o640)
            #expect(await keepers() == [:])
            try await eventually("it was hashed") { await keepers() == expected }
            #expect(await keepers() == expected)
            // Nobody else is asked.
            #expect(await two.chute.keepers(of: asked, among: [two.chute.device]).isEmpty)
        }
    }

    @Test func `what replication was stopped before is hashed after its next start`() async throws {
        try await withTwoEngines { one, _ in
            let document = try await one.share(photo, as: "photo")
            let id = try #require(document["token"]?.attachmentToken?.id)
            let kept = KeptFiles(
                reader: one.chute.store.reader, roots: one.chute.roots, diagnostics: .none)
            chmod(try #require(one.files.appending("photo").string), 0o640)
            #expect(try await kept.areKept([id]) == [false])
            let stopped = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await kept.run()
            }
            await stopped.value
            #expect(try await kept.areKept([id]) == [false])
            let running = Task { await kept.run() }
            try await eventually(within: .seconds(10), "it was hashed") {
                try await kept.areKept([id]) == [true]
            }
            running.cancel()
            await running.value
        }
    }

    @Test func `what was edited, replaced or removed is not confirmed`() async throws {
        try await withTwoEngines { one, two in
            var ids: [AttachmentID] = []
            let names: [BytePath] = ["edited", "replaced", "removed", "linked"]
            for (number, name) in names.enumerated() {
                var bytes = photo
                bytes[0] = UInt8(number)
                let document = try await one.share(bytes, as: name)
                try await two.awaitDocument(document)
                ids.append(try #require(document["token"]?.attachmentToken?.id))
            }
            let all = Set(ids)
            let kept = try await one.share(photo.reversed() + [1], as: "right")
            try await two.awaitDocument(kept)
            let right = try #require(kept["token"]?.attachmentToken?.id)
            let device = one.chute.device
            #expect(await Set(two.chute.keepers(of: ids, among: [device]).keys) == all)
            let folder = try Folder(at: one.files)
            // In place, with the times that it had.
            let status = try #require(try folder.status(of: "edited"))
            let edited = try folder.open("edited", O_RDWR)
            try edited.write([9], at: 150_000)
            let seconds = timespec(
                tv_sec: Int(status.modified / 1_000_000_000),
                tv_nsec: Int(status.modified % 1_000_000_000))
            let times = [seconds, seconds]
            #expect(futimens(edited.raw, times) == 0)
            try one.write(photo.reversed(), to: "new")
            try folder.rename("new", to: "replaced")
            try folder.remove("removed")
            try folder.rename("linked", to: "elsewhere")
            symlink("elsewhere", try #require(one.files.appending("linked").string))
            #expect(await two.chute.keepers(of: ids, among: [device]).isEmpty)
            // A touched one that is right comes after those that are hashed and are not.
            chmod(try #require(one.files.appending("right").string), 0o640)
            try await eventually("all that was touched was hashed") {
                await two.chute.keepers(of: ids + [right], among: [device])
                    == [right: [device]]
            }
        }
    }

    @Test func `what nobody waits for any more still counts as asked`() async throws {
        try await withTwoEngines { one, two in
            let document = try await one.share(photo, as: "photo")
            try await two.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            let device = one.chute.device
            // More than a peer answers at once: those beyond are not asked, and nothing breaks.
            let answers = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        await !two.chute.keepers(of: [id], among: [device]).isEmpty
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(answers.contains(true))
            #expect(await two.chute.keepers(of: [id], among: [device]) == [id: [device]])
            #expect(!two.said.contains { $0.contains("disconnected") })
        }
    }

    @Test func `a folder out of which the agent takes files confirms nothing`() async throws {
        try await withTwoEngines { one, two in
            let document = try await one.share(photo, as: "photo")
            try await two.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            let mark = Array("mark".utf8) + one.home.bytes
            one.chute.attach(root: one.root, path: one.files, mark: mark, isKept: false)
            #expect(await two.chute.keepers(of: [id], among: [one.chute.device]).isEmpty)
        }
    }

    @Test func `who is asked and goes away has not confirmed`() async throws {
        try await withTwoEngines { one, two in
            let document = try await one.share(photo, as: "photo")
            try await two.awaitDocument(document)
            let id = try #require(document["token"]?.attachmentToken?.id)
            let device = one.chute.device
            await one.stop()
            #expect(await two.chute.keepers(of: [id], among: [device]).isEmpty)
        }
    }

    @Test func `a question and an answer have their limits`() throws {
        let id = try #require(AttachmentID(digest: Digest(hashing: [1]), byteCount: 7))
        let question = Confirm(number: 1, attachments: Array(repeating: id, count: Confirm.limit))
        #expect(try Confirm(cbor: question.cbor) == question)
        #expect(question.cbor.encoded().count < FrameType.confirm.payloadLimit)
        let long = Confirm(
            number: 1, attachments: Array(repeating: id, count: Confirm.limit + 1))
        #expect(throws: WireError.self) { try Confirm(cbor: long.cbor) }
        #expect(throws: WireError.self) { try Confirm(cbor: .map([0: .unsigned(1)])) }
        #expect(throws: WireError.self) {
            try Confirm(cbor: .map([0: .unsigned(1 << 40), 1: .array([])]))
        }
        let answer = Confirmed(number: 1, words: [true, false])
        #expect(try Confirmed(cbor: answer.cbor) == answer)
        #expect(throws: WireError.self) { try Confirmed(cbor: .array([])) }
    }
}
