import Glibc

/// Which process something belongs to, told apart from all that had or will have its number.
///
/// A number alone is given again, after a restart of the machine soon, and in another namespace
/// (a container that shares a folder) it is somebody else's.
package struct ProcessMark: Hashable, Sendable {
    /// The first 16 digits of the boot's id.
    package let boot: String
    /// The process namespace, by its inode.
    package let namespace: UInt64
    package let identifier: Int32
    /// When it started, in the kernel's ticks since the boot.
    package let start: UInt64

    package init(boot: String, namespace: UInt64, identifier: Int32, start: UInt64) {
        self.boot = boot
        self.namespace = namespace
        self.identifier = identifier
        self.start = start
    }

    /// This process; `nil` where `/proc` does not tell.
    package static let own: ProcessMark? = {
        let boot = BootMoment.now.boot.filter { $0 != UInt8(ascii: "-") }.prefix(16)
        guard boot.count == 16, let start = start(of: getpid()) else { return nil }
        do throws(SystemError) {
            let namespace = try FileStatus.of("/proc/self/ns/pid", followingLinks: true).inode
            return ProcessMark(
                boot: String(decoding: boot, as: UTF8.self), namespace: namespace,
                identifier: getpid(), start: start)
        } catch {
            return nil
        }
    }()

    /// Whether the process is gone for certain, seen from `observer`, to whom `/proc` says that
    /// the process of this number started at `currentStart`; `nil` where there is none.
    package func isGone(seenFrom observer: ProcessMark, currentStart: UInt64?) -> Bool {
        if boot != observer.boot { return true }
        return namespace == observer.namespace && start != currentStart
    }

    /// Whether the process is gone for certain. Reads `/proc/<id>/stat`.
    package func isGone(seenFrom observer: ProcessMark) -> Bool {
        isGone(seenFrom: observer, currentStart: Self.start(of: identifier))
    }

    /// When the process started; `nil` where there is none.
    private static func start(of process: Int32) -> UInt64? {
        do throws(SystemError) {
            let file = try FileDescriptor.open(
                BytePath("/proc/\(process)/stat"), FileDescriptor.readOnly)
            let bytes = try file.read(count: 4096, at: 0)
            // The second field is the program's name, which may hold anything; the start is the
            // 20th after it.
            guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
            let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
            guard fields.count > 19 else { return nil }
            return UInt64(String(decoding: fields[19], as: UTF8.self))
        } catch {
            return nil
        }
    }
}

/// As part of a file name: `<boot>-<namespace>-<id>-<start>`, hexadecimal.
extension ProcessMark: LosslessStringConvertible {
    package init?(_ description: String) {
        let fields = description.split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 4, fields[0].utf8.count == 16,
            let namespace = UInt64(fields[1], radix: 16),
            let identifier = Int32(fields[2], radix: 16), identifier > 0,
            let start = UInt64(fields[3], radix: 16)
        else { return nil }
        self.init(
            boot: String(fields[0]), namespace: namespace, identifier: identifier, start: start)
        // What is not written exactly as we write it was not written by us.
        guard self.description == description else { return nil }
    }

    package var description: String {
        func hexadecimal(_ number: some BinaryInteger) -> String { String(number, radix: 16) }
        return "\(boot)-\(hexadecimal(namespace))-\(hexadecimal(identifier))-\(hexadecimal(start))"
    }
}
