import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(3)))
struct AttachmentReadingTests {
    private func withAttachment(
        _ byteCount: Int,
        _ body: (TestEngine, ChuteKit.Attachment, [UInt8], BytePath) async throws -> Void
    ) async throws {
        try await withEngine { engine, folder in
            var random = SeededGenerator(seed: UInt64(byteCount))
            let bytes = random.bytes(byteCount)
            let attachment = try await engine.pictures.newAttachment(bytes: bytes)
            try await body(engine, attachment, bytes, folder)
        }
    }

    @Test(arguments: ImportTests.sizes)
    func `a copy of any size is whole and new, and never replaces a file`(
        _ size: Int
    ) async throws {
        try await withAttachment(size) { _, attachment, bytes, folder in
            let target = folder.appending("copy")
            try await attachment.copy(to: target)
            let file = try FileDescriptor.open(target, O_RDONLY)
            #expect(try file.read(count: size + 1, at: 0) == bytes)
            #expect(try await code { try await attachment.copy(to: target) } == .alreadyExists)
            #expect(
                try await code {
                    try await attachment.copy(to: folder.appending("no/copy"))
                } == .notFound)
            #expect(try await code { try await attachment.copy(to: "/") } == .invalid)
            #expect(try Set(Folder(at: folder).entries().map(\.name)) == ["home", "copy"])
        }
    }

    @Test func `chunks come in order, and data has its limit`() async throws {
        try await withAttachment(2_500_000) { _, attachment, bytes, _ in
            var all: [UInt8] = []
            for try await chunk in attachment.bytes {
                #expect((1...1 << 20).contains(chunk.count))
                all += chunk
            }
            #expect(all == bytes)
            #expect(
                try await code { try await attachment.data(limit: 2_499_999) } == .tooLarge)
            #expect(try await attachment.data(limit: 2_500_000) == bytes)
        }
    }

    @Test func `a file is there while it is used, also while garbage is collected`() async throws {
        try await withAttachment(1000) { engine, attachment, bytes, _ in
            let chute = engine.chute
            let found = try await attachment.withFile { file in
                let report = try await chute.collectGarbage(grace: .zero)
                let again = try FileDescriptor.open(file.path, O_RDONLY)
                return (report.attachments.count, try again.read(count: 2000, at: 0))
            }
            #expect(found.0 == 0)
            #expect(found.1 == bytes)
            #expect(try await chute.collectGarbage(grace: .zero).attachments == [attachment.id])
            #expect(try await code { try await attachment.data() } == .absent)
            #expect(
                try await code { try await attachment.withFile { _ in 1 } } == .absent)
        }
    }

    @Test func `bytes in a user's file are never given wrong`() async throws {
        try await withEngine { engine, folder in
            var random = SeededGenerator(seed: 8)
            let bytes = random.bytes(2_200_000)
            let document = try await engine.share(bytes, as: "photo")
            let token = try #require(document["token"]?.attachmentToken)
            let attachment = try await engine.pictures.attachment(for: token)
            #expect(try await attachment.data() == bytes)
            #expect(try engine.blobNames().isEmpty)
            // As after a store through a mapping: one byte of the second piece.
            let file = try Folder(at: engine.files).open("photo", O_RDWR)
            try file.write([bytes[1_500_000] ^ 1], at: 1_500_000)
            #expect(try await code { try await attachment.data() } == .absent)
            #expect(
                try await code {
                    try await attachment.copy(to: folder.appending("copy"))
                } == .absent)
            #expect(try Folder(at: folder).status(of: "copy") == nil)
            try file.write([bytes[1_500_000]], at: 1_500_000)
            #expect(try await attachment.withFile { $0.path.parent } == engine.blobs)
            #expect(try engine.blobNames().count == 1)
        }
    }

    @Test func `a blob that was written to from outside is not given`() async throws {
        try await withAttachment(2_500_000) { engine, attachment, bytes, _ in
            let file = try FileDescriptor.open(
                engine.blobs.appending(attachment.id.blobName), O_RDWR)
            try file.write([bytes[7] ^ 1], at: 7)
            #expect(try await code { try await attachment.data() } == .absent)
        }
    }
}
