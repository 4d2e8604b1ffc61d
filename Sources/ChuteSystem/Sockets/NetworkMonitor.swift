import CLinux
import Glibc

/// Hears from the kernel that interfaces or addresses changed (rtnetlink(7)). What changed is for
/// whoever hears it to look up.
package final class NetworkMonitor: Sendable {
    private let descriptor: FileDescriptor
    private let readiness: Readiness

    /// Calls `socket(AF_NETLINK)` and `bind`. Throws what they say.
    package init() throws(SystemError) {
        let raw = try retrying("socket") { chute_network_monitor() }
        descriptor = FileDescriptor(owning: raw)
        readiness = try Readiness(descriptor: raw)
    }

    deinit { readiness.close() }

    /// Suspends until something changed; `false` where the system refuses to watch any longer.
    /// Throws `CancellationError`.
    package func next() async throws -> Bool {
        while true {
            guard await readiness.wait(.read) else {
                try Task.checkCancellation()
                return false
            }
            if try drain() { return true }
        }
    }

    /// Takes away what was told so far; whether that was anything. Never waits.
    @discardableResult
    package func drain() throws(SystemError) -> Bool {
        var heard = false
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(descriptor.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                heard = true
                continue
            }
            switch count == 0 ? EAGAIN : errno {
            case EINTR: continue
            case EAGAIN: return heard
            // More than the socket holds was told: that is a change.
            case ENOBUFS: heard = true
            case let code: throw SystemError(code: code, call: "recv")
            }
        }
    }
}
