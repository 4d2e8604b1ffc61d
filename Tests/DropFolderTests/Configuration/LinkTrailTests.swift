import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import DropFolder

struct LinkTrailTests {
    private func link(_ target: BytePath, at path: BytePath) throws {
        let result = target.withCString { target in path.withCString { symlink(target, $0) } }
        guard result == 0 else { throw SystemError.current("symlink", path) }
    }

    private func names(_ trail: LinkTrail, below folder: BytePath) -> Set<BytePath> {
        Set(trail.places.compactMap { $0.folder.appending($0.name).relative(to: folder) })
    }

    @Test func `a file has its name alone, also one that is not there`() async throws {
        try await withTemporaryDirectory { folder in
            let folder = try #require(folder.real)
            #expect(names(LinkTrail(to: folder.appending("a/./b")), below: folder) == ["a/b"])
        }
    }

    @Test func `every link on the way is watched, in the middle too`() async throws {
        try await withTemporaryDirectory { folder in
            let folder = try #require(folder.real)
            _ = try Folder(at: folder).makeFolder("v1")
            try SampleFiles.write([1], to: folder.appending("v1/file"))
            try link("v1", at: folder.appending("data"))
            try link("data/file", at: folder.appending("chute.toml"))
            let trail = LinkTrail(to: folder.appending("chute.toml"))
            #expect(names(trail, below: folder) == ["chute.toml", "data", "v1/file"])
        }
    }

    @Test func `links that go round are followed as often as the kernel does`() async throws {
        try await withTemporaryDirectory { folder in
            let folder = try #require(folder.real)
            try link("b", at: folder.appending("a"))
            try link("a", at: folder.appending("b"))
            let trail = LinkTrail(to: folder.appending("a"))
            #expect(names(trail, below: folder) == ["a", "b"])
        }
    }
}
