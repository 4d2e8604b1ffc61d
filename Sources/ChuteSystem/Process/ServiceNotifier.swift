import CSystemd
import Glibc

/// Tells the service manager how the agent is; does nothing where none started it.
///
/// Calls `sd_notify`. A message that is not delivered is not an error: the manager's own watchdog
/// judges by silence.
package struct ServiceNotifier: Sendable {
    package init() {}

    /// The agent works: other services that wait for it may start.
    package func ready() { send("READY=1") }

    /// One line for `systemctl status`.
    package func status(_ line: String) { send("STATUS=" + Log.escaped(line)) }

    /// The agent is alive. Due at least every `watchdogInterval`.
    package func alive() { send("WATCHDOG=1") }

    package func stopping() { send("STOPPING=1") }

    /// How often to call `alive()`: half of what the manager allows. `nil` where it does not
    /// watch this process. Calls `sd_watchdog_enabled`.
    package var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 1 else { return nil }
        return .microseconds(Int64(clamping: microseconds / 2))
    }

    private func send(_ message: String) { _ = sd_notify(0, message) }
}
