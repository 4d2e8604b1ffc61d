import ChuteSystem
import Glibc

/// Checks of the system that need no agent. What is decided is a function of what was found.
enum SystemChecks {
    /// A picture that every database of types knows.
    private static let picture: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0,
        0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0,
    ]

    static func types() -> Finding {
        do throws(MagicError) {
            let type = try MagicDatabase().type(ofBytes: picture)
            return type == "image/png"
                ? .works("types", "libmagic tells them")
                : .failed(
                    "types", "libmagic takes a PNG picture for \(type)",
                    "install the package libmagic-mgc again")
        } catch {
            return .failed(
                "types", "libmagic cannot be used: \(error)", "install the package libmagic-mgc")
        }
    }

    static func libraries() -> Finding {
        .note(
            "libraries",
            LibraryVersions.all.map { "\($0.name) \($0.version)" }.joined(separator: ", "))
    }

    /// What inotify may do here.
    struct InotifyFacts: Hashable {
        /// Why not one instance more can be had; `nil` where it can.
        var failure: SystemError?
        var watchLimit: Int?
        /// Folders in the inboxes, each of which needs a watch.
        var folderCount = 0
    }

    static func inotify(_ facts: InotifyFacts) -> Finding {
        let check = "inotify"
        if let failure = facts.failure {
            return .failed(
                check, "\(failure)",
                failure.inotifyLimitRemedy ?? "look at fs.inotify in `sysctl -a`")
        }
        guard let limit = facts.watchLimit else {
            return .note(check, "the limits of the system cannot be read")
        }
        let words = "\(facts.folderCount) folders to watch, \(limit) watches for each user"
        guard facts.folderCount >= limit / 10 * 9 else { return .works(check, words) }
        return .failed(
            check, words,
            "raise it: `sudo sysctl fs.inotify.max_user_watches=\(facts.folderCount * 4)`")
    }

    static func inotifyFacts(_ configuration: Configuration) -> InotifyFacts {
        var facts = InotifyFacts()
        do throws(SystemError) {
            let inotify = try Inotify()
            inotify.stop()
        } catch { facts.failure = error }
        facts.watchLimit = number(in: "/proc/sys/fs/inotify/max_user_watches")
        for path in configuration.folders.compactMap(\.inbox) {
            facts.folderCount += folderCount(below: path)
        }
        return facts
    }

    private static func number(in path: BytePath) -> Int? {
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, FileDescriptor.readOnly)
            let text = String(decoding: try file.read(count: 32, at: 0), as: UTF8.self)
            return Int(text.filter(\.isNumber))
        } catch {
            return nil  // said as unknown
        }
    }

    private static let countLimit = 1_000_000

    /// The folder itself and all below it that are watched.
    private static func folderCount(below path: BytePath) -> Int {
        var (count, waiting) = (0, [path])
        while let path = waiting.popLast(), count < countLimit {
            guard let entries = try? Folder(at: path).entries() else { continue }  // not watched
            count += 1
            for entry in entries
            where entry.kind == .directory && entry.name.bytes.first != UInt8(ascii: ".") {
                waiting.append(path.appending(entry.name))
            }
        }
        return count
    }

    /// One kind of addresses does: where `other` is heard, devices find each other by that.
    static func multicast(
        _ probe: MulticastProbe, _ family: MulticastProbe.Family, other: MulticastProbe
    ) -> Finding {
        let check = family == .v4 ? "multicast" : "multicast IPv6"
        let group = family == .v4 ? "224.0.0.251" : "[ff02::fb]"
        let ticket = "use a ticket, or name addresses in connect of [transports.tcp]"
        func failed(_ detail: String, _ remedy: String) -> Finding {
            // Both are tried, and either is enough.
            let isEnough = other.failure == nil && other.heardItself
            return family == .v6 && isEnough
                ? .note(check, detail, remedy) : .failed(check, detail, remedy)
        }
        if let failure = probe.failure {
            // One that was just given is not used before the link was asked for others of it.
            if failure.code == EADDRNOTAVAIL {
                return .note(check, "no address is ready yet (\(failure))", "ask again in a moment")
            }
            return failed(
                "\(failure)",
                "another mDNS program may keep port 5353 to itself: let it share the port, or "
                    + ticket)
        }
        guard probe.hasInterface else {
            return family == .v6 || other.hasInterface
                ? .note(check, "no network interface has such an address with multicast")
                : .failed(
                    check, "no network interface has an address with multicast",
                    "connect this device to a network, or " + ticket)
        }
        guard probe.heardItself else {
            return failed(
                "what is sent to \(group) does not come back to this host",
                "allow UDP port 5353 in the firewall, or " + ticket)
        }
        guard !probe.others.isEmpty else {
            return .note(
                check, "goes out, and nothing of others comes in",
                other.others.isEmpty
                    ? "where others are on, the network keeps its devices apart (possible client "
                        + "isolation): use the ticket's address" : "")
        }
        let some = probe.others.sorted().prefix(3).joined(separator: ", ")
        return .works(check, "goes out, and others are heard: \(some)")
    }
}
