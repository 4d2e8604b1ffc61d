package import ChuteSystem
import Glibc

/// A user that programs of tests run as.
///
/// Root is told no lies about what others may do: it reads every file, and its leases and links
/// are never refused. So where the tests run as root, agents run as users without an account.
package struct TestUser: Hashable, Sendable {
    /// `nil`: who runs the tests.
    package let number: UInt32?

    /// Whom agents run as.
    package static let agent = TestUser(number: isRoot ? 61_234 : nil)
    /// One with an account, `nobody`: D-Bus takes no others.
    package static let withAccount = TestUser(number: isRoot ? 65_534 : nil)
    /// Somebody else; only root can become somebody else.
    package static let other = TestUser(number: 61_235)

    package static let isRoot = geteuid() == 0

    /// What stands before a command line so that it runs as this user.
    package var prefix: [BytePath] {
        guard let number else { return [] }
        return [
            "/usr/bin/setpriv", "--reuid", BytePath("\(number)"), "--regid", BytePath("\(number)"),
            "--clear-groups", "--no-new-privs",
        ]
    }

    /// Makes this process one of the agents' user, for good: for the child of an exit test.
    /// Calls `setgid` and `setuid`.
    package static func stopBeingRoot() throws {
        guard let number = agent.number else { return }
        guard setgid(number) == 0, setuid(number) == 0 else { throw SystemError.current("setuid") }
    }

    /// Makes the file or folder this user's. Calls `lchown`.
    package func own(_ path: BytePath) throws {
        guard let number else { return }
        guard path.withCString({ lchown($0, number, number) }) == 0 else {
            throw SystemError.current("lchown", path)
        }
    }
}

/// Calls `body` with a fresh folder of the agents' user, and removes it afterwards.
package func withAgentFolder<Result>(
    in parent: BytePath = "/tmp", _ body: (BytePath) async throws -> Result
) async throws -> Result {
    try await withTemporaryDirectory(in: parent) { folder in
        try TestUser.agent.own(folder)
        // Others pass through it: a second user, say.
        _ = folder.withCString { chmod($0, 0o711) }
        return try await body(folder)
    }
}
