import ChuteSystem

/// Notices that another process asked something: it touches a file in the home.
///
/// By inotify; by looking every two seconds where the user's instances are used up, for as long
/// as they are.
struct Nudges: Sendable {
    /// The folder, and the file that is touched there.
    let folder: BytePath
    let name: BytePath
    let log: Log
    /// Between two looks without inotify.
    var pollPause = Duration.seconds(2)
    /// Between two attempts to have inotify again.
    var retryPause = Duration.seconds(60)
    /// Makes the watch; tests let it fail.
    var makeInotify: @Sendable () throws(SystemError) -> Inotify = {
        () throws(SystemError) in try Inotify()
    }

    /// What who asks does. Not each write: the database lies in that folder too, and would tell of
    /// each of its pages.
    static let asking: InotifyEvent.Mask = .closedWrite

    /// Calls `look` whenever something may have been asked, until cancelled.
    func run(_ look: @Sendable () -> Void) async throws {
        var hasSaid = false
        while true {
            let inotify: Inotify
            do throws(SystemError) {
                inotify = try watch()
            } catch {
                // Another program may hold all that a user may have: slower, and no reason to end.
                if !hasSaid {
                    log.warning(
                        "commands are noticed by looking every two seconds: \(error)"
                            + (error.inotifyLimitRemedy.map { "; \($0)" } ?? ""))
                }
                hasSaid = true
                try await poll(look)
                continue
            }
            defer { inotify.stop() }
            if hasSaid { log.notice("commands are noticed at once again") }
            hasSaid = false
            look()  // what was asked before the watch
            while let events = await inotify.next() {
                if events.contains(where: { $0.name == name || $0.mask.contains(.overflow) }) {
                    look()
                }
            }
            try Task.checkCancellation()
        }
    }

    private func watch() throws(SystemError) -> Inotify {
        let inotify = try makeInotify()
        do throws(SystemError) {
            _ = try inotify.watch(path: folder, for: Self.asking)
        } catch {
            inotify.stop()
            throw error
        }
        return inotify
    }

    private func poll(_ look: () -> Void) async throws {
        let end = ContinuousClock.now + retryPause
        repeat {
            look()
            try await Task.pause(for: pollPause, tolerance: pollPause / 2)
        } while ContinuousClock.now < end
    }
}
