import ChuteSystem
import Synchronization

/// That somebody asked the agent to stop: once made it stays made, whoever heard of it.
final class StopRequest: Sendable {
    private let made = Mutex(false)
    private let news = Mailbox<Void>()

    var isMade: Bool { made.withLock { $0 } }

    func make() {
        made.withLock { $0 = true }
        news.post(())
    }

    /// Returns once it is made, or the task is cancelled. One caller at a time.
    func wait() async { if !isMade { _ = await news.next() } }
}
