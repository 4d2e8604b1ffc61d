package import ChuteKit
package import ChuteSystem
import Synchronization

/// An engine with a folder for files, running until `stop`.
package final class TestEngine: Sendable {
    package let chute: Chute
    package let home: BytePath
    package let files: BytePath
    package let root: Int64
    private let running: Task<Void, any Error>
    private let log: LogLines

    /// What the engine said.
    package final class LogLines: Sendable {
        private let lines = Mutex<[String]>([])
        package init() {}
        package func add(_ line: String) { lines.withLock { $0.append(line) } }
        package var all: [String] { lines.withLock { $0 } }
    }

    /// Opens the engine of `home` and runs it, listening at a free port of this host. Nobody is told
    /// where: others dial what they are given.
    package init(
        _ home: BytePath, identity: Chute.Identity = .paired, listen: String? = "127.0.0.1:0",
        connect: [String] = [], network: Chute.Network? = nil, isMoved: Bool = false,
        isRunning: Bool = true
    ) async throws {
        ignoreSignals()
        let log = LogLines()
        let chute = try await Chute.open(
            identity: identity, persistenceDirectory: home,
            network: network ?? .init(listen: listen, connect: connect, announced: []),
            isMoved: isMoved,
            diagnostics: Diagnostics { level, message in log.add("\(level): \(message)") })
        let files = home.appending("files")
        try Folder.make(files, mode: 0o700)
        let mark = Array("mark".utf8) + home.bytes
        let folder = try Folder(at: files)
        _ = try folder.makeFolder(".chute", mode: 0o700)
        let file = try folder.open(".chute/id", FileDescriptor.readWriteCreate, mode: 0o600)
        try file.write(mark, at: 0)
        root = try await chute.store.write {
            try $0.registerRoot(mark: mark, path: files, role: "store")
        }
        chute.attach(root: root, path: files, mark: mark, isKept: true)
        self.chute = chute
        self.home = home
        self.files = files
        self.log = log
        running = Task { if isRunning { try await chute.run() } }
    }

    /// What the engine said so far.
    package var said: [String] { log.all }

    /// Where the engine listens, once it does.
    package func address() async throws -> String {
        for _ in 0..<6000 {
            if case .running(let address?)? = await chute.transportStates["tcp"] { return address }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw NeverHappened(what: "listening")
    }

    /// Ends the engine and waits until all its tasks are gone.
    package func stop() async {
        running.cancel()
        _ = await running.result
    }
}
