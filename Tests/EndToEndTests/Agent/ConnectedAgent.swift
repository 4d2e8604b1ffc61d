import ChuteSystem
import Glibc
import TestSupport
import Testing

/// Whether the built program has an agent in it.
enum ConnectedAgent {
    static let isThere: Bool = {
        let home = BytePath("/tmp/chute-connected-\(getpid())")
        defer { try? Folder(at: "/tmp").removeTree(home.lastComponent) }
        _ = try? CapturedRun(RunningProgram.chute, ["--home", home, "init"])
        let run = try? CapturedRun(RunningProgram.chute, ["--home", home, "status"])
        return run.map { !String(decoding: $0.error, as: UTF8.self).contains("has no agent") }
            ?? false
    }()
}

extension Trait where Self == ConditionTrait {
    /// For tests that start the agent.
    static var agent: Self { .enabled(if: ConnectedAgent.isThere, "this build has no agent") }
    /// For tests that make hosts of their own.
    static var namespaces: Self {
        .enabled(if: NetworkNamespaces.areAvailable, "needs root and network namespaces")
    }
    /// For tests that become another user.
    static var root: Self { .enabled(if: TestUser.isRoot, "needs root") }
}
