import ChuteSystem
@preconcurrency import Dispatch
import Glibc
import Synchronization
import TestSupport

/// Kills an agent some microseconds after a step has begun.
///
/// ## Concurrency
/// A thread of its own waits and kills: the moments are shorter than what a task may have to wait
/// for a processor. `signs` is that thread's alone once it runs.
final class KillAim: Sendable {
    private let agent: AgentProcess
    private let events: Inotify
    private let folders: [InotifyEvent.Watch: BytePath]
    private let ready = DispatchSemaphore(value: 0)
    private let signs: Mutex<KillSigns>
    private let delay: UInt32

    /// Looks for `signs` from now on, to kill `delay` microseconds after them.
    init(at agent: AgentProcess, _ signs: KillSigns, delay: Int) throws {
        self.agent = agent
        self.signs = Mutex(signs)
        self.delay = UInt32(delay)
        events = try Inotify { [ready] in ready.signal() }
        var folders: [InotifyEvent.Watch: BytePath] = [:]
        for folder in signs.folders {
            do throws(SystemError) { folders[try events.watch(path: folder)] = folder } catch {
                // A folder of an earlier start was emptied and removed meanwhile.
                guard error.isNotFound else { throw error }
            }
        }
        self.folders = folders
    }

    /// Waits and kills; where the signs do not come within `limit`, it kills then. Gives the
    /// moment, in nanoseconds since 1970.
    func fire(within limit: DispatchTimeInterval = .seconds(3)) async -> FileStatus.Nanoseconds {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "chute.test.aim").async { @Sendable [self] in
                if waitForSigns(until: .now() + limit), delay > 0 { usleep(delay) }
                let moment = Self.now()
                agent.send(signal: SIGKILL)
                continuation.resume(returning: moment)
            }
        }
    }

    /// What the clock of the file systems says.
    static func now() -> FileStatus.Nanoseconds {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }

    private func waitForSigns(until end: DispatchTime) -> Bool {
        while ready.wait(timeout: end) == .success {
            for event in events.take() ?? [] {
                guard let folder = folders[event.watch] else { continue }
                if signs.withLock({ $0.begin(with: event, in: folder) }) { return true }
            }
        }
        return false
    }
}
