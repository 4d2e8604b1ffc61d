import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit
@testable import DropFolder

/// Files that are held, and then read again.
struct HeldFilesTests {
    /// Holds a file with the text "one", puts a file with `text` in the place of what is held, as if
    /// that were a reflink or a copy, and holds it again.
    private func holdAgain(
        over text: String,
        _ body: (HeldFiles.Held, _ before: FileStatus?, _ after: FileStatus?) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { path in
            let inbox = try InboxRoot(at: path)
            try SampleFiles.write(Array("one".utf8), to: path.appending("a"))
            let file = try inbox.folder.open("a", O_RDONLY)
            let hashed = try #require(
                try AttachmentHasher().hash(descriptor: file.raw, expectedLength: 3))
            func hold() throws -> HeldFiles.Held {
                try #require(try HeldFiles().hold(file, "a", hashed.attachment, in: inbox))
            }
            let first = try hold()
            try inbox.folder.remove(first.path)
            try SampleFiles.write(Array(text.utf8), to: path.appending(first.path))
            let before = try inbox.folder.status(of: first.path)
            let again = try hold()
            #expect(again.path == first.path)
            try body(again, before, try inbox.folder.status(of: first.path))
        }
    }

    // A file that is touched is read again. A reflink of it has a number of its own, as this copy.
    @Test func `what is held as a copy is held on, and is not made anew`() async throws {
        try await holdAgain(over: "one") { again, before, after in
            #expect(again.isKnown && again.isOwned)
            #expect(before == after)
        }
    }

    @Test func `a leftover that is shorter is made anew`() async throws {
        try await holdAgain(over: "o") { again, before, after in
            #expect(!again.isKnown)
            #expect(after?.size == 3)
        }
    }
}
