import ChuteSystem
import Glibc

/// Whether the Avahi daemon runs on this host.
enum AvahiDaemonCheck {
    /// Looks at the daemon's own pid file, and whether that process is one. Blocks.
    static var runs: Bool {
        guard let pid = text(of: "/run/avahi-daemon/pid").flatMap({ Int32($0) }) else {
            return false
        }
        return text(of: BytePath("/proc/\(pid)/comm"))?.hasPrefix("avahi-daemon") ?? false
    }

    private static func text(of path: BytePath) -> String? {
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, FileDescriptor.readOnlyFollowing)
            let bytes = try file.read(count: 64, at: 0)
            return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        } catch {
            return nil  // there is none, or nobody may see it
        }
    }
}
