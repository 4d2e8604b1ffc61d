import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

/// Real files and awkward names, dropped all at once.
@Suite(
    .enabled(if: Corpus.isPresent, "no corpus of real files: set CHUTE_CORPUS"),
    .timeLimit(.minutes(3)))
struct CorpusTests {
    private static let filter = InboxFilter()

    @Test func `every file comes out as it is, or is listed with its reason`() async throws {
        try await AgentPair.running { pair in
            var expected = FolderTree()
            var reasons: [BytePath: String] = [:]
            try dropRealFiles(pair.laptop, &expected, &reasons)
            try dropNames(pair.laptop, &expected, &reasons)
            try await pair.pi.awaitOutbox(expected, within: .seconds(40))
            try await pair.laptop.awaitReceipts(expected.files.count, within: .seconds(60))
            let skipped = try await pair.laptop.skipped()
            for (path, reason) in reasons {
                #expect(skipped[path] == reason, "\(path)")
            }
        }
    }

    /// A folder with sub-folders that is moved in: no event names what is in it.
    private func dropRealFiles(
        _ home: AgentHome, _ expected: inout FolderTree, _ reasons: inout [BytePath: String]
    ) throws {
        let staged = try Folder(at: home.path)
        try staged.makeFolder("corpus")
        try home.user.own(home.path.appending("corpus"))
        for row in try Corpus.rows() {
            let path = BytePath("corpus").appending(row.path)
            let parent = home.path.appending(path.parent)
            if try staged.makeFolder(path.parent) { try home.user.own(parent) }
            let file = try Corpus.open(row)
            let bytes = try file.read(count: Int(file.status().size), at: 0)
            try SampleFiles.write(bytes, to: home.path.appending(path))
            try home.user.own(home.path.appending(path))
            try expect(path, bytes, home, &expected, &reasons)
        }
        try staged.rename("corpus", to: "inbox/corpus")
    }

    /// Each in a folder of its own: they are about names, not about collisions.
    private func dropNames(
        _ home: AgentHome, _ expected: inout FolderTree, _ reasons: inout [BytePath: String]
    ) throws {
        for name in NamesCorpus.names where name.origin == "inbox" {
            guard (1...255).contains(name.bytes.count), !name.bytes.contains(0),
                !name.bytes.contains(BytePath.separator)
            else { continue }
            let path = BytePath("names/\(name.id)").appending(BytePath(bytes: name.bytes))
            let bytes = Array("a text of its own: \(name.id)\n".utf8)
            try home.drop(bytes, as: path)
            try expect(path, bytes, home, &expected, &reasons)
        }
    }

    private func expect(
        _ path: BytePath, _ bytes: [UInt8], _ home: AgentHome, _ expected: inout FolderTree,
        _ reasons: inout [BytePath: String]
    ) throws {
        switch Self.filter.verdict(path, isFolder: false) {
        case .share:
            let names = [Array(home.name.utf8)] + path.components
            let target = BytePath(components: try OutboxNaming().name(names))
            expected.files[target] = .init(bytes)
        case .skip(let reason): reasons[path] = reason.rawValue
        case .invisible: break
        }
    }
}
