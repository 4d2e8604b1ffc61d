import CLinux
import Glibc
import Synchronization

/// Tells when descriptors are ready, for all `Readiness` values of the process.
///
/// Dispatch's own sources end the process now and then when a connection breaks off in the moment
/// in which it is let go, so that sockets are not given to them.
///
/// ## Concurrency
/// One thread waits in `epoll_wait`, from the first use on for as long as the process lives; it
/// holds no lock while it calls. A descriptor is known by a token that is never given twice, so
/// that a late event of a closed one finds nobody.
final class Poller: Sendable {
    static let shared = Poller()

    /// What can happen to a descriptor.
    struct Events: OptionSet, Sendable {
        let rawValue: UInt32

        static let readable = Events(rawValue: chute_EPOLLIN)
        static let writable = Events(rawValue: chute_EPOLLOUT)
        /// Closed at the other end, or broken: reading and writing say how.
        static let ended = Events(rawValue: chute_EPOLL_ENDED)
    }

    /// Called on the poller's thread; must not block.
    typealias Handler = @Sendable (Events) -> Void

    private struct State {
        var handlers: [UInt64: Handler] = [:]
        var lastToken: UInt64 = 0
        /// -1 where there is none yet.
        var epoll: Int32 = -1
    }

    private let state = Mutex(State())

    private init() {}

    /// Registers an open descriptor, for nothing yet; its token.
    ///
    /// Throws `EMFILE` and `ENOMEM` where the system has no more. Calls `epoll_create1` and
    /// `pthread_create` the first time, `epoll_ctl`.
    func add(_ descriptor: Int32, _ handler: @escaping Handler) throws(SystemError) -> UInt64 {
        try state.withLock { state throws(SystemError) -> UInt64 in
            if state.epoll < 0 { state.epoll = try start() }
            state.lastToken += 1
            let (epoll, token) = (state.epoll, state.lastToken)
            _ = try retrying("epoll_ctl") { chute_epoll_add(epoll, descriptor, token) }
            state.handlers[token] = handler
            return token
        }
    }

    /// Asks for the next of `events`, or of the descriptor's end: one call of the handler, at
    /// once where it is so already. Later calls take the place of earlier ones.
    func arm(_ descriptor: Int32, _ token: UInt64, for events: Events) throws(SystemError) {
        let epoll = state.withLock { $0.epoll }
        _ = try retrying("epoll_ctl") {
            chute_epoll_arm(epoll, descriptor, events.rawValue, token)
        }
    }

    /// Forgets a descriptor that is still open.
    func remove(_ descriptor: Int32, _ token: UInt64) {
        let epoll = state.withLock { state in
            state.handlers[token] = nil
            return state.epoll
        }
        // It can only fail for a descriptor that is not registered.
        _ = chute_epoll_remove(epoll, descriptor)
    }

    private func start() throws(SystemError) -> Int32 {
        let epoll = try retrying("epoll_create1") { chute_epoll() }
        do throws(SystemError) {
            pthread_detach(try WorkThread.start("chute.poll") { Poller.shared.poll(epoll) })
        } catch {
            close(epoll)
            throw error
        }
        return epoll
    }

    private func poll(_ epoll: Int32) {
        let capacity = 64
        var tokens = [UInt64](repeating: 0, count: capacity)
        var events = [UInt32](repeating: 0, count: capacity)
        while true {
            let count = chute_epoll_wait(epoll, &tokens, &events, Int32(capacity))
            guard count >= 0 else {
                precondition(errno == EINTR, "epoll_wait failed: \(errno)")
                continue
            }
            for index in 0..<Int(count) {
                let handler = state.withLock { $0.handlers[tokens[index]] }
                handler?(Events(rawValue: events[index]))
            }
        }
    }
}
