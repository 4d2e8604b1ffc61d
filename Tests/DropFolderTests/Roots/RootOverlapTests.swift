import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite struct RootOverlapTests {
    private typealias Place = RootOverlap.Place
    private let inbox = RootMark.Use(.inbox, space: "s1")
    private let outbox = RootMark.Use(.outbox, space: "s1")

    @Test func `folders side by side do not overlap`() async throws {
        try await withTemporaryDirectory { top in
            _ = try FolderRoot.establish(at: top.appending("in"), use: inbox)
            _ = try FolderRoot.establish(at: top.appending("out"), use: outbox)
            let places = [
                try Place.at(top.appending("in"), use: inbox),
                try Place.at(top.appending("out"), use: outbox),
                try Place.at(top.appending("outer"), use: outbox),
            ]
            #expect(RootOverlap.conflicts(among: places).isEmpty)
        }
    }

    @Test func `an inbox in an outbox is found through a link`() async throws {
        try await withTemporaryDirectory { top in
            _ = try FolderRoot.establish(at: top.appending("out/sub/in"), use: inbox)
            let link = top.appending("link")
            symlink(top.appending("out/sub").string ?? "", link.string ?? "")
            let places = [
                try Place.at(link.appending("in"), use: inbox),
                try Place.at(top.appending("out"), use: outbox),
            ]
            #expect(
                RootOverlap.conflicts(among: places)
                    == [.inside(link.appending("in"), top.appending("out"))])
        }
    }

    @Test func `one folder under two names is one`() async throws {
        try await withTemporaryDirectory { top in
            _ = try FolderRoot.establish(at: top.appending("a"), use: inbox)
            symlink("a", top.appending("b").string ?? "")
            let places = [
                try Place.at(top.appending("a"), use: inbox),
                try Place.at(top.appending("b"), use: inbox),
            ]
            #expect(
                RootOverlap.conflicts(among: places)
                    == [.same(top.appending("a"), top.appending("b"))])
        }
    }

    @Test func `folders that are not made yet are judged by those above and their paths`()
        async throws
    {
        try await withTemporaryDirectory { top in
            _ = try FolderRoot.establish(at: top.appending("in"), use: inbox)
            let places = [
                try Place.at(top.appending("in"), use: inbox),
                try Place.at(top.appending("in/x/out"), use: outbox),
                try Place.at(top.appending("new"), use: outbox),
                try Place.at(top.appending("new/in"), use: inbox),
            ]
            #expect(
                RootOverlap.conflicts(among: places) == [
                    .inside(top.appending("in/x/out"), top.appending("in")),
                    .markedAs(.inbox, top.appending("in/x/out")),
                    .inside(top.appending("new/in"), top.appending("new")),
                ])
        }
    }

    @Test(
        arguments: [
            ("s1", "s1", true), ("s1", "s2", false), (nil, "s1", true), ("s1", nil, true),
        ] as [(String?, String?, Bool)])
    func `a folder marked as an outbox is no inbox of that space`(
        marked: String?, wanted: String?, conflicts: Bool
    ) async throws {
        try await withTemporaryDirectory { top in
            _ = try FolderRoot.establish(at: top, use: .init(.outbox, space: marked))
            let place = try Place.at(top, use: .init(.inbox, space: wanted))
            let expected: [RootOverlap.Conflict] = conflicts ? [.markedAs(.outbox, top)] : []
            #expect(RootOverlap.conflicts(among: [place]) == expected)
        }
    }

    @Test func `what is moved away goes to no inbox or outbox, and to one folder from many`()
        async throws
    {
        try await withTemporaryDirectory { top in
            let moved = RootMark.Use(.afterIngest, space: "s1")
            _ = try FolderRoot.establish(at: top.appending("in"), use: inbox)
            _ = try FolderRoot.establish(at: top.appending("other"), use: outbox)
            _ = try FolderRoot.establish(at: top.appending("done"), use: moved)
            let places = [
                try Place.at(top.appending("in"), use: inbox),
                try Place.at(top.appending("done"), use: moved),
                try Place.at(top.appending("done/deeper"), use: moved),
                try Place.at(top.appending("in/done"), use: moved),
                // An outbox of this space, of another agent.
                try Place.at(top.appending("other/done"), use: moved),
            ]
            #expect(
                RootOverlap.conflicts(among: places) == [
                    .inside(top.appending("in/done"), top.appending("in")),
                    .markedAs(.inbox, top.appending("in/done")),
                    .markedAs(.outbox, top.appending("other/done")),
                ])
            // What others moved away may be dropped.
            let dropped = try Place.at(top.appending("done"), use: inbox)
            #expect(RootOverlap.conflicts(among: [dropped]).isEmpty)
        }
    }
}
