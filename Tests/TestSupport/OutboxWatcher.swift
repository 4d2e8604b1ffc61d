package import ChuteSystem
import Glibc
import Synchronization

/// Looks at every file of an outbox when its name appears: it must be a name that was dropped,
/// with all of the bytes of that, once, and stay as it is; with `takesVersions`, with all of the
/// bytes of one version of it, which another may replace.
///
/// ## Concurrency
/// One task watches; what it found lies in a mutex. Names are looked at when the system tells
/// that they appear, and all again whenever it may have told too late or too little.
package final class OutboxWatcher: Sendable {
    private struct State {
        var expected: [BytePath: Set<FolderTree.Content>] = [:]
        var wrong: [String] = []
        var seen: Set<BytePath> = []
        /// Names that were given to a file before the watcher's eyes.
        var given: Set<BytePath> = []
    }

    private let outbox: BytePath
    private let takesVersions: Bool
    private let events: Inotify
    private let state = Mutex(State())

    /// Watches the outbox at `path`, which exists.
    package init(_ path: BytePath, takesVersions: Bool = false) throws {
        outbox = path
        self.takesVersions = takesVersions
        events = try Inotify()
    }

    /// Allows a name below the outbox to appear with this content, where versions are taken
    /// beside those that it may have already. Call it before its file is dropped.
    package func expect(_ content: FolderTree.Content, as name: BytePath) {
        state.withLock { state in
            if takesVersions {
                state.expected[name, default: []].insert(content)
            } else {
                state.expected[name] = [content]
            }
        }
    }

    /// What was wrong, in sentences.
    package var wrong: [String] { state.withLock { $0.wrong } }

    /// How many names were looked at.
    package var count: Int { state.withLock { $0.seen.count } }

    /// Watches until cancelled.
    package func run() async throws {
        defer { events.stop() }
        var folders: [InotifyEvent.Watch: BytePath] = [:]
        try watch("", &folders)
        while let batch = await events.next() {
            for event in batch {
                if event.mask.contains(.overflow) {
                    folders = [:]
                    try watch("", &folders)
                } else if let folder = folders[event.watch], !event.name.isEmpty {
                    let path = folder.isEmpty ? event.name : folder.appending(event.name)
                    try take(event.mask, of: path, &folders)
                }
            }
        }
    }

    private func take(
        _ mask: InotifyEvent.Mask, of path: BytePath,
        _ folders: inout [InotifyEvent.Watch: BytePath]
    ) throws {
        guard path.components.first != [UInt8](".chute".utf8) else { return }
        let isFile = !mask.contains(.isFolder)
        if !mask.isDisjoint(with: [.created, .movedTo]) {
            if isFile, !takesVersions, state.withLock({ !$0.given.insert(path).inserted }) {
                note("\(path) appeared a second time")
            }
            try look(path, &folders)
        } else if mask.contains(.modified) {
            note("\(path) was written to under its name")
        } else if isFile, !takesVersions, !mask.isDisjoint(with: [.deleted, .movedFrom]) {
            note("\(path) went away")
        }
    }

    /// Watches a folder and looks at all that lies below it. Watch first, then look.
    private func watch(
        _ folder: BytePath, _ folders: inout [InotifyEvent.Watch: BytePath]
    ) throws(SystemError) {
        let path = folder.isEmpty ? outbox : outbox.appending(folder)
        do throws(SystemError) {
            folders[try events.watch(path: path)] = folder
            for entry in try Folder(at: path).entries() {
                let below = folder.isEmpty ? entry.name : folder.appending(entry.name)
                try look(below, &folders)
            }
        } catch {
            guard error.isNotFound else { throw error }
        }
    }

    private func look(
        _ path: BytePath, _ folders: inout [InotifyEvent.Watch: BytePath]
    ) throws(SystemError) {
        guard path != ".chute" else { return }
        do throws(SystemError) {
            switch try FileStatus.of(outbox.appending(path)).kind {
            case .directory:
                try watch(path, &folders)
            case .regular:
                let content = try FolderTree.Content(of: outbox.appending(path))
                let expected = state.withLock { state in
                    state.seen.insert(path)
                    return state.expected[path]
                }
                if expected == nil {
                    note("\(path) is a name that nobody dropped")
                } else if expected?.contains(content) != true {
                    note("\(path) was seen with \(content.byteCount) other bytes")
                }
            case .symlink, .other: note("\(path) is no file")
            }
        } catch {
            guard error.isNotFound else { throw error }
        }
    }

    private func note(_ sentence: String) { state.withLock { $0.wrong.append(sentence) } }
}
