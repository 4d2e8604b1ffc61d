import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

struct HeldFilesTests {
    // A file that is touched is read again. A reflink of it has a number of its own, as this copy.
    @Test func `what is held as a copy is held on, and is not made anew`() async throws {
        try await withTemporaryDirectory { path in
            let inbox = try InboxRoot(at: path)
            try inbox.folder.makeFile("a", "one")
            let file = try inbox.folder.open("a", O_RDONLY)
            let hashed = try #require(
                try AttachmentHasher().hash(descriptor: file.raw, expectedLength: 3))
            let first = try #require(
                try HeldFiles().hold(file, "a", hashed.attachment, in: inbox))
            try inbox.folder.remove(first.path)
            try SampleFiles.write(Array("one".utf8), to: path.appending(first.path))
            let held = try inbox.folder.status(of: first.path)
            let again = try #require(
                try HeldFiles().hold(file, "a", hashed.attachment, in: inbox))
            #expect(again.path == first.path && again.isKnown && again.isOwned)
            #expect(try inbox.folder.status(of: first.path) == held)
        }
    }

    @Test func `a leftover that is shorter is made anew`() async throws {
        try await withTemporaryDirectory { path in
            let inbox = try InboxRoot(at: path)
            try inbox.folder.makeFile("a", "one")
            let file = try inbox.folder.open("a", O_RDONLY)
            let hashed = try #require(
                try AttachmentHasher().hash(descriptor: file.raw, expectedLength: 3))
            let first = try #require(
                try HeldFiles().hold(file, "a", hashed.attachment, in: inbox))
            try inbox.folder.remove(first.path)
            try SampleFiles.write(Array("o".utf8), to: path.appending(first.path))
            let again = try #require(
                try HeldFiles().hold(file, "a", hashed.attachment, in: inbox))
            #expect(!again.isKnown)
            #expect(try inbox.folder.status(of: again.path)?.size == 3)
        }
    }
}
