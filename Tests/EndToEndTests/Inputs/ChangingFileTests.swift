import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Files that somebody changes while they are on their way: what the peer sees is always one of
/// the contents that the file had, and in the end the last one.
@Suite(.timeLimit(.minutes(3)))
struct ChangingFileTests {
    /// Both agents run, and every name that appears at the pi is looked at.
    private func watched(
        _ body: (AgentPair, OutboxWatcher) async throws -> Void
    ) async throws {
        try await AgentPair.running { pair in
            let watcher = try OutboxWatcher(pair.pi.outbox, takesVersions: true)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await watcher.run() }
                try await body(pair, watcher)
                group.cancelAll()
            }
            #expect(watcher.wrong == [])
            #expect(watcher.count > 0)
        }
    }

    private func reason(_ name: BytePath, at home: AgentHome) async throws -> String? {
        try await home.status().folder?.skipped.first { $0.path == name.description }?.reason
    }

    @Test func `a file that somebody writes is busy, and shared once it is closed`() async throws {
        var random = SeededGenerator(seed: 41)
        let photo = SampleFiles.photo(400_000, using: &random)
        try await watched { pair, watcher in
            watcher.expect(.init(photo), as: "laptop/slow.jpg")
            let path = pair.laptop.inbox.appending("slow.jpg")
            let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL)
            try pair.laptop.user.own(path)
            try file.write(Array(photo[..<200_000]), at: 0)
            try await eventually("the file is busy") {
                try await reason("slow.jpg", at: pair.laptop) == "busy"
            }
            #expect(try await pair.laptop.status().folder?.shared == 0)
            try file.write(Array(photo[200_000...]), at: 200_000)
            _ = consume file
            try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/slow.jpg": .init(photo)]))
            try await pair.laptop.awaitReceipts(1)
            #expect(try await pair.laptop.status().folder?.skipped.isEmpty == true)
        }
    }

    @Test func `a file that grows bit by bit is changing, and shared once it is quiet`()
        async throws
    {
        try await watched { pair, watcher in
            let path = pair.laptop.inbox.appending("log.txt")
            @Sendable func append(to text: [UInt8]) throws -> [UInt8] {
                let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT)
                let line = Array("line \(text.count)\n".utf8)
                watcher.expect(.init(text + line), as: "laptop/log.txt")
                try file.write(line, at: UInt64(text.count))
                return text + line
            }
            let start = try append(to: [])
            try pair.laptop.user.own(path)
            // Beside the looks at its state, which take long on a busy machine. What stood quiet
            // for long enough is a version in its own right.
            let writer = Task {
                var text = start
                while !Task.isCancelled {
                    text = try append(to: text)
                    do { try await Task.sleep(for: .milliseconds(50)) } catch { break }
                }
                return text
            }
            defer { writer.cancel() }
            try await eventually("the file is changing") {
                try await reason("log.txt", at: pair.laptop) == "changing"
            }
            writer.cancel()
            let text = try await writer.value
            try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/log.txt": .init(text)]))
            try await pair.laptop.awaitReceipts(1)
            #expect(try await pair.laptop.status().folder?.skipped.isEmpty == true)
        }
    }

    @Test func `half a photo waits, and is gone without a word or shared when it is whole`()
        async throws
    {
        var random = SeededGenerator(seed: 42)
        let photos = (0..<3).map { _ in SampleFiles.photo(90_000, using: &random) }
        try await watched { pair, watcher in
            watcher.expect(.init(photos[0]), as: "laptop/grown.jpg")
            watcher.expect(.init(photos[2]), as: "laptop/cut.jpg")
            // As a copy that stalls leaves them: closed, and cut.
            for (photo, name) in zip(photos, ["grown.jpg", "gone.jpg", "cut.jpg"]) {
                try pair.laptop.drop(Array(photo[..<50_000]), as: BytePath(name))
            }
            let inbox = try Folder(at: pair.laptop.inbox)
            let cut = try inbox.open("cut.jpg", O_RDWR)
            try cut.truncate(to: 10_000)
            try cut.write(Array(photos[2][10_000...]), at: 10_000)
            _ = consume cut
            let grown = try inbox.open("grown.jpg", O_RDWR)
            try grown.write(Array(photos[0][50_000...]), at: 50_000)
            _ = consume grown
            try inbox.remove("gone.jpg")
            // Well before the ten seconds that a cut one would have to wait.
            try await pair.pi.awaitOutbox(
                FolderTree(files: [
                    "laptop/grown.jpg": .init(photos[0]), "laptop/cut.jpg": .init(photos[2]),
                ]), within: .seconds(8))
            try await pair.laptop.awaitReceipts(2)
            #expect(try await pair.laptop.status().folder?.skipped.isEmpty == true)
        }
    }

    /// What is done to a file.
    enum Edit: String, CaseIterable {
        case poke, append, truncate, exiftool, vim, remove
    }

    /// When.
    enum Moment: String, CaseIterable, Sendable { case read, sent, delivered }

    /// What is being received, or was and is of no use any more, with bytes in it. What gets its
    /// name meanwhile is left out.
    private func stagedFiles(_ home: AgentHome) -> Set<BytePath> {
        let staging = home.outbox.appending(".chute/staging")
        let paths = (try? FolderTree.paths(below: staging)) ?? []
        return Set(
            paths.filter { path in
                (try? FileStatus.of(staging.appending(path)).allocated).map { $0 > 0 } ?? false
            })
    }

    @Test(arguments: Moment.allCases)
    func `whatever is done to a file, the peer never sees a mixture`(when moment: Moment)
        async throws
    {
        var random = SeededGenerator(seed: 43)
        let size = moment == .read ? 24_000_000 : moment == .sent ? 80_000_000 : 300_000
        let base = random.bytes(size)
        let pauses = Edit.allCases.map { _ in Int.random(in: 0...150, using: &random) }
        try await watched { pair, watcher in
            for (edit, pause) in zip(Edit.allCases, pauses) {
                var story = FileStory(name: edit.rawValue, base: base, pair: pair)
                watcher.expect(.init(story.content), as: story.target)
                watcher.expect(.init(story.content), as: story.backup)
                let staged = stagedFiles(pair.pi)
                try pair.laptop.drop(story.content, as: story.name)
                switch moment {
                case .read: try await Task.sleep(for: .milliseconds(pause))
                case .sent:
                    try await eventually("bytes of \(story.name) have come") {
                        if story.isThere() { return true }  // all of them: too late
                        return !stagedFiles(pair.pi).subtracting(staged).isEmpty
                    }
                case .delivered: try await story.awaitCopy()
                }
                try story.apply(edit) { [target = story.target] in
                    watcher.expect(.init($0), as: target)
                }
                if edit == .remove {
                    // Shared or not, as the look at it came before or after; never in part.
                    try await eventually("nothing is pending") {
                        "\(try await pair.laptop.status().folder as Any)"
                    } holds: {
                        let status = try await pair.laptop.status()
                        return status.transfers.isEmpty && status.folder?.pending == 0
                    }
                } else {
                    try await story.awaitCopy()
                }
                if edit == .exiftool { try await story.awaitBackup() }
            }
            let names = try Set(FolderTree.paths(below: pair.pi.outbox).map(\.description))
            let backup = "laptop/exiftool.bin_original"
            #expect(
                names.subtracting(["laptop/remove.bin"])
                    == Set(Edit.allCases.map { "laptop/\($0.rawValue).bin" } + [backup])
                    .subtracting(["laptop/remove.bin"]))
            if moment != .read { #expect(names.contains("laptop/remove.bin")) }
            try await eventually("both are idle") {
                let laptop = try await pair.laptop.status()
                return try await pair.pi.status().transfers.isEmpty && laptop.isSettled
            }
        }
    }

    @Test func `a photo that exiftool rewrites is one new version and the backup`() async throws {
        var random = SeededGenerator(seed: 44)
        let photos = (0..<2).map { _ in SampleFiles.photo(60_000, using: &random) }
        try await watched { pair, watcher in
            for photo in photos { watcher.expect(.init(photo), as: "laptop/photo.jpg") }
            watcher.expect(.init(photos[0]), as: "laptop/photo.jpg_original")
            try pair.laptop.drop(photos[0], as: "photo.jpg")
            try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/photo.jpg": .init(photos[0])]))
            // It writes the whole photo beside the old one, and only then renames both.
            let inbox = try Folder(at: pair.laptop.inbox)
            let temporary: BytePath = "photo.jpg_exiftool_tmp"
            try SampleFiles.write(photos[1], to: pair.laptop.inbox.appending(temporary))
            try pair.laptop.user.own(pair.laptop.inbox.appending(temporary))
            try await eventually("the agent leaves the temporary file alone") {
                try await reason(temporary, at: pair.laptop) == "ignored"
            }
            try inbox.rename("photo.jpg", to: "photo.jpg_original")
            try inbox.rename(temporary, to: "photo.jpg")
            try await pair.pi.awaitVersions(
                FolderTree(files: [
                    "laptop/photo.jpg": .init(photos[1]),
                    "laptop/photo.jpg_original": .init(photos[0]),
                ]))
            try await pair.laptop.awaitReceipts(2)
        }
    }
}

extension ChangingFileTests {
    /// How a file gets a second name, under which its bytes are still to be had.
    enum SecondName: String, CaseIterable, Sendable { case renamedAside, hardLink }

    @Test(arguments: SecondName.allCases)
    func `a file that was replaced before any peer came is there under its other name`(
        by second: SecondName
    ) async throws {
        var random = SeededGenerator(seed: 45)
        let photos = [60_000, 70_000].map { SampleFiles.photo($0, using: &random) }
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop) { _ in
                func awaitShared(_ count: Int) async throws {
                    try await eventually("\(count) are shared") {
                        try await pair.laptop.status().folder?.shared == count
                    }
                }
                try pair.laptop.drop(photos[0], as: "photo.jpg")
                try await awaitShared(1)
                let inbox = try Folder(at: pair.laptop.inbox)
                switch second {
                case .renamedAside:
                    try inbox.rename("photo.jpg", to: "before.jpg")
                    try pair.laptop.drop(photos[1], as: "photo.jpg")
                    try await awaitShared(2)
                case .hardLink:
                    let path = pair.laptop.inbox.appending("photo.jpg")
                    let made = path.withCString { from in
                        pair.laptop.inbox.appending("before.jpg").withCString { link(from, $0) }
                    }
                    try #require(made == 0)
                    try await awaitShared(2)
                    try pair.laptop.drop(photos[1], as: "photo.jpg")
                    try await eventually("the new version is known") {
                        try await pair.laptop.chute("list").output.contains("70 KB")
                    }
                }
                // Only now does somebody come who wants any of it.
                try await withAgents(pair.pi) { _ in
                    try await pair.pi.awaitOutbox(
                        FolderTree(files: [
                            "laptop/photo.jpg": .init(photos[1]),
                            "laptop/before.jpg": .init(photos[0]),
                        ]))
                    try await pair.laptop.awaitReceipts(2)
                }
            }
        }
    }
}

extension ChangingFileTests {
    @Test func `a file whose bytes are nowhere is listed by who waits for it, with the reason`()
        async throws
    {
        var random = SeededGenerator(seed: 47)
        let photo = SampleFiles.photo(60_000, using: &random)
        let other = SampleFiles.photo(60_000, using: &random)
        try await AgentPair.with { pair in
            func awaitReason(_ words: String) async throws {
                try await eventually("the pi says: \(words)") {
                    let output = try await pair.pi.chute("status").output
                    return output.contains("no-source") && output.contains(words)
                }
            }
            try await withAgents(pair.pi) { _ in
                try await withAgents(pair.laptop) { _ in
                    try pair.laptop.drop(photo, as: "photo.jpg")
                    try await pair.laptop.awaitReceipts(1)
                }
            }
            // The only copies go: one by its user's hand, one by that of who tidies up, ...
            try Folder(at: pair.pi.outbox).remove("laptop/photo.jpg")
            try Folder(at: pair.laptop.inbox).remove("photo.jpg")
            let held = try Folder(at: pair.laptop.inbox.appending(".chute/held"))
            for entry in try held.entries() { try held.remove(entry.name) }
            try await withAgents(pair.pi) { _ in
                try await withAgents(pair.laptop) { _ in
                    try await eventually("the removal is known") {
                        try await pair.pi.chute("list").output.contains("removed")
                    }
                    // ... and then it is asked for again.
                    let again = try await pair.pi.chute(
                        "redeliver", pair.pi.outbox.appending("laptop/photo.jpg"))
                    #expect(again.exitCode == 0)
                    try await awaitReason("laptop had it and does not any more")
                    try pair.laptop.drop(other, as: "other.jpg")
                    try await pair.laptop.awaitReceipts(2)
                }
                try await awaitReason("comes when laptop is connected")
            }
        }
    }

    @Test(.root) func `a file whose held copy was removed is read again and arrives`()
        async throws
    {
        var random = SeededGenerator(seed: 46)
        let photo = SampleFiles.photo(60_000, using: &random)
        try await AgentPair.with { pair in
            try await withAgents(pair.laptop) { _ in
                // Of another owner, so that it is not linked but copied.
                let staged = pair.laptop.path.appending("staged.jpg")
                try SampleFiles.write(photo, to: staged)
                _ = staged.withCString { chmod($0, 0o644) }
                try TestUser.other.own(staged)
                try Folder(at: pair.laptop.path).rename("staged.jpg", to: "inbox/photo.jpg")
                try await eventually("it is shared") {
                    try await pair.laptop.status().folder?.shared == 1
                }
            }
            // Somebody tidies up; a copy's end leaves no trace at the file.
            let held = try Folder(at: pair.laptop.inbox.appending(".chute/held"))
            for entry in try held.entries() { try held.remove(entry.name) }
            try await withAgents(pair.pi) { _ in
                try await withAgents(pair.laptop) { agents in
                    try await eventually("the pi waits for it") {
                        try await pair.pi.chute("list").output.contains("fetching")
                    }
                    try await agents[0].stop()
                }
                // The next scan, here that of a start, finds that nobody could serve it.
                try await withAgents(pair.laptop) { _ in
                    try await pair.pi.awaitOutbox(
                        FolderTree(files: ["laptop/photo.jpg": .init(photo)]))
                    try await pair.laptop.awaitReceipts(1)
                }
            }
        }
    }
}

/// A file in the laptop's inbox, and all that it was.
private struct FileStory {
    let name: BytePath
    private(set) var content: [UInt8]
    private let first: [UInt8]
    private let pair: AgentPair

    /// Another file than those of other names.
    init(name: String, base: [UInt8], pair: AgentPair) {
        self.name = BytePath(name + ".bin")
        self.pair = pair
        content = base
        content.replaceSubrange(0..<name.utf8.count, with: name.utf8)
        first = content
    }

    /// Where it and its backup come out.
    var target: BytePath { BytePath("laptop").appending(name) }
    var backup: BytePath { BytePath(bytes: target.bytes + Array("_original".utf8)) }

    /// Changes the file; `willBe` is told each content before the file has it.
    mutating func apply(
        _ edit: ChangingFileTests.Edit, willBe: ([UInt8]) -> Void
    ) throws {
        let inbox = try Folder(at: pair.laptop.inbox)
        func rewrite(_ temporary: BytePath) throws {
            try SampleFiles.write(content, to: pair.laptop.inbox.appending(temporary))
            try pair.laptop.user.own(pair.laptop.inbox.appending(temporary))
        }
        switch edit {
        case .poke:
            // At both ends: who read the first before and the last after has a mixture.
            let file = try inbox.open(name, O_WRONLY)
            for place in [content.count / 4, content.count - 1] {
                content[place] ^= 0xFF
                willBe(content)
                try file.write([content[place]], at: UInt64(place))
            }
        case .append:
            let file = try inbox.open(name, O_WRONLY)
            let end = UInt64(content.count)
            content += Array("more".utf8)
            willBe(content)
            try file.write(Array("more".utf8), at: end)
        case .truncate:
            content.removeLast(content.count / 3)
            willBe(content)
            try inbox.open(name, O_WRONLY).truncate(to: UInt64(content.count))
        case .exiftool:
            content[100] ^= 0xFF
            willBe(content)
            let temporary = BytePath(bytes: name.bytes + Array("_exiftool_tmp".utf8))
            try rewrite(temporary)
            try inbox.rename(name, to: BytePath(bytes: name.bytes + Array("_original".utf8)))
            try inbox.rename(temporary, to: name)
        case .vim:
            content[100] ^= 0xFF
            // The new file grows under the name: what is whole is only known by the close.
            willBe(content)
            let backup = BytePath(bytes: name.bytes + Array("~".utf8))
            try inbox.rename(name, to: backup)
            try rewrite(name)
            try inbox.remove(backup)
        case .remove: try inbox.remove(name)
        }
    }

    /// Whether the pi has any version of it.
    func isThere() -> Bool {
        let copy = pair.pi.outbox.appending(target)
        return copy.withCString { access($0, F_OK) } == 0
    }

    /// Waits until the pi has the present content under the name.
    func awaitCopy() async throws {
        try await awaitContent(pair.pi.outbox.appending(target), content)
    }

    /// Waits until the pi has the first content beside it.
    func awaitBackup() async throws {
        try await awaitContent(pair.pi.outbox.appending(backup), first)
    }

    private func awaitContent(_ copy: BytePath, _ bytes: [UInt8]) async throws {
        let expected = FolderTree.Content(bytes)
        try await eventually(within: .seconds(40), "\(copy)") {
            "\(try FolderTree.paths(below: pair.pi.outbox)) \(try await pair.laptop.status())"
        } holds: {
            do throws(SystemError) {
                guard try FileStatus.of(copy).size == expected.byteCount else { return false }
                return try FolderTree.Content(of: copy) == expected
            } catch {
                guard error.isNotFound else { throw error }
                return false
            }
        }
    }
}
