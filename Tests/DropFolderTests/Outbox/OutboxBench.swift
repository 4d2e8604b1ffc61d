import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

/// An outbox in a temporary folder, with what a test needs to stage and look.
final class OutboxBench {
    static let now: FileStatus.Nanoseconds = 1_767_225_599_000_000_000

    let path: BytePath
    let root: FolderRoot
    let staging: StagingFolder
    let publisher: OutboxPublisher
    private(set) var intents: [PublishIntent] = []
    private var staged = 0

    init(at path: BytePath, modes: OutboxPublisher.Modes = .init()) throws {
        self.path = path
        root = try FolderRoot.establish(at: path, use: .init(.outbox, space: "s1"))
        staging = try StagingFolder.make(in: root)
        publisher = try OutboxPublisher(root: root, modes: modes) { file, item in
            let own = try? item.staged.descriptor.read(count: 1 << 20, at: 0)
            let other = try? file.read(count: 1 << 20, at: 0)
            return own != nil && own == other
        }
    }

    func item(
        _ target: String, _ text: String, modified: FileStatus.Nanoseconds? = nil,
        durability: PublishItem.Durability = .written, replacing: DeliveredCopy? = nil
    ) throws -> PublishItem {
        staged += 1
        let file = try staging.create(BytePath("f\(staged)"))
        try file.descriptor.write(Array(text.utf8), at: 0)
        return PublishItem(
            staged: file, components: target.split(separator: "/").map { Array($0.utf8) },
            modified: modified, durability: durability, replacing: replacing)
    }

    @discardableResult
    func publish(_ items: [PublishItem]) async throws -> [PublishOutcome] {
        try await publisher.publish(items, now: Self.now) {
            intents += $0
        } commitDelivered: { _ in
        }
    }

    /// Publishes one file that must get its name.
    func deliver(
        _ target: String, _ text: String, replacing: DeliveredCopy? = nil
    ) async throws -> PublishedCopy {
        let outcome = try await publish([item(target, text, replacing: replacing)]).first
        guard case .published(let copy)? = outcome else {
            throw PublishFailure(.refused)
        }
        return copy
    }

    func write(_ name: String, _ text: String) throws {
        let folder = try Folder(at: path)
        let file = try folder.open(BytePath(name), O_WRONLY | O_CREAT | O_TRUNC)
        try file.write(Array(text.utf8), at: 0)
    }

    func read(_ name: String) throws -> String? {
        guard let status = try root.folder.status(of: BytePath(name)), status.kind == .regular
        else { return nil }
        let file = try root.folder.open(BytePath(name), O_RDONLY)
        return String(decoding: try file.read(count: 1 << 20, at: 0), as: UTF8.self)
    }

    func status(_ name: String) throws -> FileStatus {
        try #require(try root.folder.status(of: BytePath(name)))
    }

    /// The visible names at the top.
    func names() throws -> Set<String> {
        Set(try root.folder.entries().compactMap(\.name.string).filter { $0 != ".chute" })
    }

    func stagedNames() throws -> [BytePath] { try staging.folder.entries().map(\.name) }

    /// The path of an outcome that got or adopted a name.
    static func path(_ outcome: PublishOutcome?) -> String? {
        switch outcome {
        case .published(let copy): copy.copy.path.string
        case .adopted(let copy): copy.path.string
        default: nil
        }
    }
}
