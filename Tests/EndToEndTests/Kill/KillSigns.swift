import ChuteSystem
import TestSupport

/// Tells from what happens in an agent's folders that a step has begun.
struct KillSigns: Sendable {
    private let step: KillStep
    /// The folders in which something is to be seen.
    let folders: [BytePath]
    /// How often each staged file was closed by one that could write to it.
    private var closings: [BytePath: Int] = [:]
    private var isSynced = false

    /// A staged file of this size is a long one on its way: photos come in one write.
    private static let longSize = 2 << 20

    init(of step: KillStep, _ pair: AgentPair) throws {
        self.step = step
        switch step {
        case .ingest: folders = [pair.laptop.inbox.appending(".chute/held")]
        case .send, .fetch, .record: folders = try pair.pi.stagingFolders()
        case .publish:
            folders = try pair.pi.stagingFolders() + [pair.pi.path.appending("state")]
        }
    }

    /// Whether the step begins, or goes on, with this event in one of the folders.
    mutating func begin(with event: InotifyEvent, in folder: BytePath) -> Bool {
        switch step {
        case .ingest: return event.mask.contains(.created)
        case .send, .fetch:
            guard event.mask.contains(.modified) else { return false }
            let status = try? FileStatus.of(folder.appending(event.name))
            return status.map { $0.size >= Self.longSize } ?? false
        case .publish:
            // The fetcher closes a file once it is complete, the publisher after its sync: what
            // it writes to the database then are the intents.
            if event.mask.contains(.closedWrite) {
                closings[event.name, default: 0] += 1
                if closings[event.name] == 2 { isSynced = true }
            }
            return isSynced && event.name == "chute.db-wal" && event.mask.contains(.modified)
        case .record: return event.mask.contains(.movedFrom)
        }
    }
}

extension AgentHome {
    /// `.chute/staging/<start>` of every start that has one.
    func stagingFolders() throws -> [BytePath] {
        let all = outbox.appending(".chute/staging")
        return try Folder(at: all).entries().map { all.appending($0.name) }
    }

    /// What lies in `.chute/staging/<start>` of every start.
    func stagedFiles() throws -> [BytePath: FileStatus] {
        var found: [BytePath: FileStatus] = [:]
        for start in try stagingFolders() {
            do throws(SystemError) {
                let folder = try Folder(at: start)
                for entry in try folder.entries() {
                    found[start.appending(entry.name)] = try folder.status(of: entry.name)
                }
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
        return found
    }
}
