import ChuteSystem
import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// For tests with Avahi daemons of their own.
    static var multicastDNS: Self {
        .enabled(
            if: MDNSHost.areAvailable, "needs root, network namespaces, avahi-daemon, dbus-daemon")
    }
}

/// Homes on hosts of their own that reach each other by the transport `lan` alone, with a shared
/// key for each space.
struct LANHomes: Sendable {
    let hosts: [MDNSHost]
    let homes: [AgentHome]

    /// Calls `body` with one home on each host, in the space of its number, on that interface or
    /// all.
    static func with(
        _ hosts: [MDNSHost], spaces: [Int]? = nil, interfaces: String? = nil,
        _ body: (LANHomes) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            try TestUser.withAccount.own(folder)
            var homes: [AgentHome] = []
            for (index, host) in hosts.enumerated() {
                let name = ["ada", "bob", "cyd", "dan"][index]
                let home = try AgentHome(name, in: folder, on: host)
                let key = folder.appending("space\(spaces?[index] ?? 0).key")
                try await home.setUp("--listen", "", "--shared-key", key)
                if let interfaces {
                    try home.edit("# interfaces = []", "interfaces = [\"\(interfaces)\"]")
                }
                homes.append(home)
            }
            try await body(LANHomes(hosts: hosts, homes: homes))
        }
    }

    /// Calls `body` with two homes whose agents run and have got what the other one dropped.
    static func withTwoThatMet(
        _ body: (LANHomes, [AgentProcess]) async throws -> Void
    ) async throws {
        try await MDNSHost.with(2) { hosts in
            try await with(hosts) { lan in
                try await lan.running { agents in
                    try await lan.expectDelivery()
                    try await body(lan, agents)
                }
            }
        }
    }

    /// Calls `body` while the agents of all homes run.
    func running(_ body: ([AgentProcess]) async throws -> Void) async throws {
        var agents: [AgentProcess] = []
        do {
            for home in homes { agents.append(try await AgentProcess(home)) }
            try await body(agents)
        } catch {
            for agent in agents {
                print(agent.home.name, try agent.log.suffix(6000))
                try await agent.kill()
            }
            throw error
        }
        for agent in agents { try await agent.kill() }
    }

    /// What each of these homes drops comes out at all others of them, and nothing else does.
    func expectDelivery(among members: [Int]? = nil, round: UInt64 = 0) async throws {
        let members = (members ?? Array(homes.indices)).map { homes[$0] }
        var random = SeededGenerator(seed: 71 + round)
        var photos: [String: [UInt8]] = [:]
        for home in members {
            let photo = SampleFiles.photo(50_000, using: &random)
            try home.drop(photo, as: BytePath("\(round).jpg"))
            photos[home.name] = photo
        }
        for home in members {
            for (name, photo) in photos where name != home.name {
                let place = home.outbox.appending(BytePath("\(name)/\(round).jpg"))
                try await eventually("\(name)'s photo \(round) comes out at \(home.name)") {
                    "\(try await home.status().peers)"
                } holds: {
                    try FolderTree.paths(below: home.outbox)
                        .contains(BytePath("\(name)/\(round).jpg"))
                        && FolderTree.Content(of: place) == FolderTree.Content(photo)
                }
            }
        }
    }
}

extension AgentHome {
    /// Names a home on a host whose D-Bus its agent may use.
    init(_ name: String, in folder: BytePath, on host: MDNSHost) throws {
        try self.init(name, in: folder, user: .withAccount, network: host.network)
        variables = host.variables
    }

    /// Waits until `doctor` finds nothing that fails, and says these words.
    func awaitDoctor(_ words: String...) async throws {
        var said = ""
        try await eventually("\(words)") {
            said
        } holds: {
            let result = try await chute("doctor")
            said = result.output
            return result.exitCode == 0 && words.allSatisfy(said.contains)
        }
    }
}
