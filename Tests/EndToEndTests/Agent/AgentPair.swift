import ChuteSystem
import TestSupport

/// Two homes in one folder, whose agents know each other by a shared key.
struct AgentPair: Sendable {
    let laptop: AgentHome
    let pi: AgentHome
    /// Where the laptop listens.
    let port: FreePort
    /// The file with the key that both share.
    let key: BytePath

    /// Calls `body` with both set up, each of which dials the other; no agent runs yet.
    static func with<Result>(
        in folder: BytePath? = nil, _ body: (AgentPair) async throws -> Result
    ) async throws -> Result {
        try await withAgentFolder(in: folder ?? "/tmp") { folder in
            let ports = try FreePort.pair()
            let key = folder.appending("space.key")
            let pair = AgentPair(
                laptop: try AgentHome("laptop", in: folder), pi: try AgentHome("pi", in: folder),
                port: ports.0, key: key)
            try await pair.laptop.setUp(
                "--listen", ports.0.address, "--connect", ports.1.address, "--shared-key", key)
            try await pair.pi.setUp(
                "--listen", ports.1.address, "--connect", ports.0.address, "--shared-key", key)
            return try await body(pair)
        }
    }

    /// Calls `body` while both agents run.
    static func running<Result>(
        _ body: (AgentPair) async throws -> Result
    ) async throws -> Result {
        try await running { pair, _ in try await body(pair) }
    }

    /// Calls `body` while both agents run, with these: the laptop's, then the pi's.
    static func running<Result>(
        _ body: (AgentPair, [AgentProcess]) async throws -> Result
    ) async throws -> Result {
        try await with { pair in
            try await withAgents(pair.laptop, pair.pi) { try await body(pair, $0) }
        }
    }
}

/// A port of loopback that nobody listens at.
struct FreePort: Sendable {
    let number: UInt16

    var address: BytePath { BytePath("127.0.0.1:\(number)") }

    /// Two of them. Held while both are chosen; somebody else could take one afterwards, which
    /// the ports that the system gives in turn make unlikely.
    static func pair() throws -> (FreePort, FreePort) {
        let one = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        let other = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        return (FreePort(number: one.address.port), FreePort(number: other.address.port))
    }
}

extension AgentHome {
    /// Waits until the outbox holds exactly these files, byte for byte.
    func awaitOutbox(_ expected: FolderTree, within limit: Duration = .seconds(60)) async throws {
        // Names first: reading everything again and again would take longer than the transfer.
        let names = Set(expected.files.keys)
        try await eventually(within: limit, "\(names.count) files in the outbox of \(name)") {
            let found = try Set(FolderTree.paths(below: outbox))
            return "missing: \(names.subtracting(found).sorted()), "
                + "not expected: \(found.subtracting(names).sorted())"
        } holds: {
            try Set(FolderTree.paths(below: outbox)) == names
        }
        // A name that was there before may have its former bytes for a moment.
        do {
            try await eventually(within: limit, "the bytes in the outbox of \(name)") {
                try FolderTree(of: outbox) == expected
            }
        } catch is NeverHappened {
            let found = try FolderTree(of: outbox)
            throw NeverHappened(
                what:
                    "the bytes that were dropped in the outbox of \(name): expected \(expected), found \(found)"
            )
        }
    }

    /// Waits until the outbox holds exactly these files, also where earlier versions of them are
    /// there already. For small ones: all are read again and again.
    func awaitVersions(_ expected: FolderTree) async throws {
        try await eventually(within: .seconds(60), "these versions in the outbox of \(name)") {
            "expected \(expected), found \(try FolderTree(of: outbox))"
        } holds: {
            try FolderTree(of: outbox) == expected
        }
    }

    /// Waits until every peer said for every document what it did with it.
    func awaitReceipts(_ count: Int, within limit: Duration = .seconds(30)) async throws {
        try await eventually(within: limit, "\(count) receipts at \(name)") {
            "\(try await status().folder as Any)"
        } holds: {
            let status = try await status()
            return status.isSettled
                && status.folders.allSatisfy { folder in
                    folder.shared == count && folder.peers.allSatisfy { $0.delivered == count }
                }
        }
    }
}
