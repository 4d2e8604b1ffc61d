import CAvahi

/// Avahi's own loop over `poll`, for one thread.
///
/// Owns an `AvahiSimplePoll`.
final class AvahiLoop {
    private let poll: OpaquePointer

    /// Throws `AVAHI_ERR_NO_MEMORY`, also where there is no descriptor left.
    init() throws(AvahiError) {
        guard let poll = avahi_simple_poll_new() else {
            throw AvahiError(code: Int32(AVAHI_ERR_NO_MEMORY), call: "avahi_simple_poll_new")
        }
        self.poll = poll
    }

    deinit { avahi_simple_poll_free(poll) }

    var api: UnsafePointer<AvahiPoll> { avahi_simple_poll_get(poll) }

    /// Ends the wait of `turn`, from any thread while this lives.
    var wake: @Sendable () -> Void {
        // Its address is all that crosses: the call writes a byte into the loop's pipe.
        nonisolated(unsafe) let poll = poll
        return { avahi_simple_poll_wakeup(poll) }
    }

    /// Waits for one event, at most for `pause`, and calls back for it. `skipsWaiting` is asked
    /// once wake-ups count again.
    func turn(atMost pause: Duration?, skipsWaiting: () -> Bool) throws(AvahiError) {
        var milliseconds: Int32 = -1
        if let pause {
            let (seconds, rest) = pause.components
            milliseconds = Int32(clamping: seconds * 1000 + rest / 1_000_000_000_000_000 + 1)
        }
        try check("avahi_simple_poll_prepare", avahi_simple_poll_prepare(poll, milliseconds))
        // Preparing forgets earlier wake-ups.
        if skipsWaiting() { avahi_simple_poll_wakeup(poll) }
        try check("avahi_simple_poll_run", avahi_simple_poll_run(poll))
        try check("avahi_simple_poll_dispatch", avahi_simple_poll_dispatch(poll))
    }

    private func check(_ call: String, _ result: Int32) throws(AvahiError) {
        if result != 0 { throw AvahiError(code: Int32(AVAHI_ERR_FAILURE), call: call) }
    }
}
