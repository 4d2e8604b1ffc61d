import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// What an application does wrong, each in a process of its own that has done nothing for its
/// signals: an error is thrown, and nothing traps.
@Suite(.timeLimit(.minutes(2)))
struct LifeExitTests {
    @Test func `a wrong identity ends no process`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryDirectory { folder in
                let path = folder.appending("a")
                try await open(path).close()
                for identity in [
                    Chute.Identity.paired, .sharedKey(.test()), .development(appName: ""),
                ] {
                    try await expect([.wrongIdentity, .invalid]) {
                        _ = try await open(path, as: identity)
                    }
                }
            }
        }
    }

    @Test func `a directory that is missing or none ends no process`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryDirectory { folder in
                try await expect([.missingDirectory]) {
                    _ = try await open(folder.appending("a/b"))
                }
                for path: BytePath in ["", "/tmp/a\0b"] {
                    try await expect([.invalid]) { _ = try await open(path) }
                }
                try await expect([.notADirectory]) { _ = try await open("/dev/null") }
                try await expect([.notADirectory]) { _ = try await open("/dev/null/a") }
                try await expect([.notWritable]) { _ = try await open("/sys/chute-test") }
            }
        }
    }

    @Test func `a later version and a damaged store end no process`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryDirectory { folder in
                let path = folder.appending("a")
                try await open(path).close()
                let store = path.appending("chute.db")
                do { try Connection(path: store).execute("PRAGMA user_version = 1000") }
                try await expect([.storeIsNewer]) { _ = try await open(path) }
                let file = try FileDescriptor.open(store, FileDescriptor.readWrite)
                try file.truncate(to: 0)
                try file.write([UInt8](repeating: 0x55, count: 8192), at: 0)
                try await expect([.storeIsDamaged]) { _ = try await open(path) }
            }
        }
    }

    @Test func `a second engine ends no process`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryDirectory { folder in
                let first = try await open(folder.appending("a"))
                try await expect([.heldElsewhere]) { _ = try await open(folder.appending("a")) }
                try await first.startSync()
                try await expect([.heldElsewhere]) { _ = try await open(folder.appending("a")) }
                try await first.close()
                try await open(folder.appending("a")).close()
            }
        }
    }

    @Test func `use after close ends no process`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryDirectory { folder in
                let chute = try await open(folder.appending("a"))
                try await chute.close()
                try await expect([.closed]) { try await chute.store.write { _ in } }
                try await expect([.closed]) { try await chute.store.read { _ in } }
                try await expect([.closed]) { try await chute.startSync() }
                try await expect([.closed]) { try await chute.run() }
                try await expect([.closed]) { _ = try await chute.peers() }
                chute.store.look(at: .documents)
                chute.attach(root: 1, path: folder, mark: [], isKept: true)
                chute.detach(root: 1)
                _ = chute.observePeers { _ in }
                await chute.stopSync()
                try await chute.close()
            }
        }
    }

    @Test func `closing either end in the middle of everything ends no process`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryDirectory { folder in
                for round in 0..<6 {
                    let one = try await open(folder.appending("a"))
                    try await one.startSync()
                    let two = try await open(
                        folder.appending("b"), connect: await one.ownAddresses)
                    try await two.startSync()
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for chute in [one, two] {
                            group.addTask { try await write(in: chute) }
                            group.addTask { for await _ in chute.peerUpdates() {} }
                            group.addTask { _ = await chute.fetched() }
                        }
                        if round > 0 {
                            try await eventually("connected") { try await one.peers().count > 1 }
                        }
                        let (first, second) = round.isMultiple(of: 2) ? (one, two) : (two, one)
                        try await first.close()
                        try await second.close()
                        try await group.waitForAll()
                    }
                }
            }
        }
    }

    @Test func `tasks that are cancelled at any await end no process`() async {
        await #expect(processExitsWith: .success) {
            try await withTemporaryDirectory { folder in
                let chute = try await open(folder.appending("a"))
                let nowhere = Ticket(
                    space: SpaceID(Digest(hashing: [1])), inviter: chute.device,
                    secret: [UInt8](repeating: 1, count: 16), addresses: ["127.0.0.1:9"],
                    expires: 0)
                let calls: [@Sendable () async throws -> Void] = [
                    { try await chute.startSync() }, { await chute.stopSync() },
                    { try await chute.run() }, { _ = try await chute.peers() },
                    { for await _ in chute.peerUpdates() {} }, { _ = await chute.fetched() },
                    { try await chute.join(nowhere) }, { _ = try await chute.members() },
                    { try await chute.store.write { _ in } },
                    { try await chute.store.read { _ in } },
                    { for await _ in chute.store.updates(of: .members) {} },
                    { _ = await chute.keepers(of: [], among: []) },
                ]
                for call in calls {
                    for pause in [0, 1, 5, 20] {
                        let task = Task { try await call() }
                        try await Task.pause(for: .milliseconds(pause))
                        task.cancel()
                        _ = await task.result
                    }
                }
                let last = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await chute.close()
                }
                try await last.value
                try await open(folder.appending("a")).close()
            }
        }
    }
}

private func open(
    _ directory: BytePath, as identity: Chute.Identity = .development(appName: "pics"),
    connect: [String] = []
) async throws -> Chute {
    try await Chute.open(
        identity: identity, persistenceDirectory: directory,
        network: .init(listen: "127.0.0.1:0", isPortFixed: true, connect: connect),
        diagnostics: .none)
}

/// Throws unless `body` throws one of `codes`.
private func expect(
    _ codes: Set<ChuteError.Code>, _ body: () async throws -> Void
) async throws {
    do { try await body() } catch let error as ChuteError where codes.contains(error.code) {
        return
    }
    throw NeverHappened(what: "\(codes)")
}

/// Writes until the engine is closed, or the test has failed.
private func write(in chute: Chute) async throws {
    for number in 0... {
        if Task.isCancelled { return }
        do {
            _ = try await chute.store.write {
                try $0.put(
                    seed: Digest(hashing: Array("\(number)".utf8)), in: "things",
                    fields: ["n": .integer(Int64(number))])
            }
        } catch let error as ChuteError where error.code == .closed { return }
    }
}
