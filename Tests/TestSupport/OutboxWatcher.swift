package import ChuteSystem
import Glibc
import Synchronization

/// Looks at every file of an outbox when its name appears: all of its bytes must be there, and
/// be those of something that was dropped.
///
/// ## Concurrency
/// One task watches; what it found lies in a mutex. Names are looked at when the system tells
/// that they appear, and all again whenever it may have told too late or too little.
package final class OutboxWatcher: Sendable {
    private struct State {
        var expected: Set<FolderTree.Content> = []
        var wrong: [String] = []
        var seen: Set<BytePath> = []
    }

    private let outbox: BytePath
    private let events: Inotify
    private let state = Mutex(State())

    /// Watches the outbox at `path`, which exists.
    package init(_ path: BytePath) throws {
        outbox = path
        events = try Inotify()
    }

    /// Allows a content to appear. Call it before it is dropped.
    package func expect(_ content: FolderTree.Content) {
        state.withLock { _ = $0.expected.insert(content) }
    }

    /// What was wrong: names with the content that they had when they appeared.
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
                } else if let folder = folders[event.watch],
                    !event.mask.isDisjoint(with: [.created, .movedTo])
                {
                    try look(folder.isEmpty ? event.name : folder.appending(event.name), &folders)
                }
            }
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
                state.withLock { state in
                    state.seen.insert(path)
                    if !state.expected.contains(content) {
                        state.wrong.append("\(path) with \(content.byteCount) bytes")
                    }
                }
            case .symlink, .other:
                state.withLock { $0.wrong.append("\(path), which is no file") }
            }
        } catch {
            guard error.isNotFound else { throw error }
        }
    }
}
