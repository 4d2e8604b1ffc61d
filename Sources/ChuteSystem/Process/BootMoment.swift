import Glibc

/// A moment that only this boot of the machine knows: no clock that is set moves it, and it goes
/// on while the machine sleeps.
package struct BootMoment: Hashable, Sendable {
    /// The kernel's id of this boot; empty where it gives none.
    package let boot: [UInt8]
    package let nanoseconds: Int64

    package init(boot: [UInt8], nanoseconds: Int64) {
        self.boot = boot
        self.nanoseconds = nanoseconds
    }

    /// Reads `CLOCK_BOOTTIME` and `/proc/sys/kernel/random/boot_id`.
    package static var now: BootMoment { BootMoment(boot: id, nanoseconds: sinceBoot) }

    /// Nanoseconds since the boot. Reads `CLOCK_BOOTTIME`.
    static var sinceBoot: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Later by `pause`.
    package func advanced(by pause: Duration) -> BootMoment {
        let (seconds, rest) = pause.components
        let added = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let count = added.overflow ? Int64.max : added.partialValue + rest / 1_000_000_000
        let sum = nanoseconds.addingReportingOverflow(count)
        return BootMoment(boot: boot, nanoseconds: sum.overflow ? .max : sum.partialValue)
    }

    /// Whether it is over at `now`: another boot is.
    package func hasPassed(at now: BootMoment) -> Bool {
        boot != now.boot || nanoseconds <= now.nanoseconds
    }

    private static let id: [UInt8] = {
        do throws(SystemError) {
            let file = try FileDescriptor.open(
                "/proc/sys/kernel/random/boot_id", FileDescriptor.readOnly)
            return try file.read(count: 36, at: 0)
        } catch {
            return []
        }
    }()
}
