import ChuteKit
import ChuteSystem
import Glibc

/// The inboxes and outboxes of a configuration, opened or made, each with its row and its lock.
struct AgentFolders: Sendable {
    struct Opened: Sendable {
        let settings: FolderSettings
        let inbox: FolderRecord?
        let outbox: FolderRecord?
    }

    private(set) var all: [Opened] = []
    let locks = FolderLocks()

    /// Sets up every folder of `configuration` and attaches it to `chute`.
    ///
    /// A folder is made only if no row says that it ever existed: one that is not there any more
    /// is not mounted. Throws `AgentError` where folders lie in each other, or another agent has
    /// one of them.
    init(_ configuration: Configuration, _ chute: Chute, log: Log) async throws {
        let space = await chute.space?.description
        try Self.checkOverlap(configuration, space)
        for settings in configuration.folders {
            var inbox: FolderRecord?
            var outbox: FolderRecord?
            if let path = settings.inbox {
                inbox = try await open(path, .inbox, settings, space, chute, log)
            }
            if let path = settings.outbox {
                outbox = try await open(path, .outbox, settings, space, chute, log)
            }
            all.append(Opened(settings: settings, inbox: inbox, outbox: outbox))
        }
    }

    /// What each inbox and outbox is.
    var kinds: [BytePath: RootMark.Use.Kind] {
        var kinds: [BytePath: RootMark.Use.Kind] = [:]
        for record in all.flatMap({ [$0.inbox, $0.outbox] }) {
            if let record { kinds[record.path] = record.kind }
        }
        return kinds
    }

    private static func checkOverlap(_ configuration: Configuration, _ space: String?) throws {
        var places: [RootOverlap.Place] = []
        for settings in configuration.folders {
            if let path = settings.inbox {
                places.append(try .at(path, use: .init(.inbox, space: space)))
            }
            if let path = settings.outbox {
                places.append(try .at(path, use: .init(.outbox, space: space)))
            }
            // One that cannot be looked at now is judged before anything is moved to it.
            if settings.inbox != nil, case .move(let path) = settings.afterIngest,
                let place = try? RootOverlap.Place.at(
                    path, use: .init(.afterIngest, space: space))
            {
                places.append(place)
            }
        }
        guard let conflict = RootOverlap.conflicts(among: places).first else { return }
        throw AgentError(.configuration, "\(conflict.sentence): give each a folder of its own")
    }

    private func open(
        _ path: BytePath, _ kind: RootMark.Use.Kind, _ settings: FolderSettings,
        _ space: String?, _ chute: Chute, _ log: Log
    ) async throws -> FolderRecord {
        let key = FolderRecord.key(kind, path)
        let row = try await chute.store.read { try $0.row(FolderRecord.self, key) }
        if var known = row {
            chute.attach(
                root: known.root, path: path, mark: known.identity.markPrefix,
                isKept: kind == .outbox)
            if case .ready(let root) = try FolderRoot.open(at: path, expected: known.identity) {
                guard try locks.take(known.root, root.folder) else { throw Self.isHeld(path) }
                if space != nil { try root.add(.init(kind, space: space)) }
            }
            if known.collectionName != settings.collection {
                // What the folder takes now was never looked at for it.
                known.collectionName = settings.collection
                known.learned = 0
                let changed = known
                try await chute.store.write { try $0.put(changed) }
            }
            return known
        }
        let root: FolderRoot
        do throws(SystemError) {
            root = try FolderRoot.establish(at: path, use: .init(kind, space: space))
        } catch {
            throw AgentError(
                .configuration, "the \(kind.rawValue) \(path) cannot be set up: \(error)")
        }
        // Before it is counted and recorded; then kept by the number that it gets.
        guard let lock = try FolderLock(root.folder) else { throw Self.isHeld(path) }
        let existing = kind == .inbox ? Self.count(root, settings) : (0, 0)
        let (identity, name) = (root.identity, settings.collection)
        let record = try await chute.store.write { transaction in
            let number = try transaction.registerRoot(
                mark: Array(identity.text.utf8) + [0] + Array(kind.rawValue.utf8), path: path,
                role: kind.rawValue)
            var record = FolderRecord(
                kind: kind, collection: name, path: path, identity: identity, root: number)
            record.existingCount = existing.0
            record.existingBytes = existing.1
            try transaction.put(record)
            return record
        }
        try locks.keep(lock, record.root, root.folder)
        chute.attach(
            root: record.root, path: path, mark: identity.markPrefix, isKept: kind == .outbox)
        if existing.0 > 0 {
            log.notice(
                """
                \(existing.0) files, \(ByteCount.text(UInt64(clamping: existing.1))) in \(path) \
                are shared from now on
                """)
        }
        return record
    }

    static func isHeld(_ path: BytePath) -> AgentError {
        AgentError(
            .heldElsewhere, "another agent uses \(path): stop that one, or take another folder")
    }

    /// What lies in an inbox: files that would be shared, and their bytes.
    static func count(_ root: FolderRoot, _ settings: FolderSettings) -> (Int64, Int64) {
        var (count, bytes): (Int64, Int64) = (0, 0)
        guard let inbox = try? InboxRoot(at: root.path) else { return (0, 0) }
        var scanner = InboxScanner(inbox, filter: settings.filter)
        while let entries = scanner.next(limit: 512) {
            for case .file(_, let status) in entries {
                count += 1
                bytes = bytes.addingReportingOverflow(Int64(clamping: status.size)).partialValue
            }
        }
        return (count, bytes)
    }
}

extension FolderSettings {
    var filter: InboxFilter { InboxFilter(ignore: IgnorePatterns(ignore)) }
}

extension RootIdentity {
    /// What the mark file begins with; empty where there is none.
    var markPrefix: [UInt8] {
        if case .marked(let id) = self { Array(Hexadecimal.text(id).utf8) } else { [] }
    }
}

extension RootOverlap.Conflict {
    var sentence: String {
        switch self {
        case .same(let one, let other): "\(one) and \(other) are one folder"
        case .inside(let inner, let outer): "\(inner) lies in \(outer)"
        case .markedAs(let kind, let path): "\(path) is the \(kind.rawValue) of this space already"
        }
    }
}

/// Why an agent cannot run, with the kind that decides how the program ends.
package struct AgentError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable { case configuration, heldElsewhere, failed }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
