import CLinux
import Glibc

/// Threads of this process that are not Dispatch's.
///
/// Dispatch ends its threads after five idle seconds and starts them anew, and the first one of
/// its shared pool arms a timer that wakes its manager every second for as long as the process
/// lives: an idle agent would never rest.
enum WorkThread {
    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Runs `body` on a new thread; the thread. `name` is cut after 15 bytes.
    ///
    /// Signals never interrupt it: those that steer the process are for its other threads. Throws
    /// `EAGAIN` where the system has no more threads. Calls `pthread_create`.
    static func start(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> pthread_t {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Body(name, body))
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                WorkThread.run(Unmanaged<Body>.fromOpaque(argument).takeRetainedValue())
                return nil
            }, argument.toOpaque())
        guard result == 0 else {
            argument.release()
            throw SystemError(code: result, call: "pthread_create")
        }
        return thread
    }

    /// Like `start`, for a thread that nobody waits for.
    static func startUnattended(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        pthread_detach(try start(name, body))
    }

    /// Like `start`, for a thread that nobody waits for and that work cannot do without: waits
    /// until the system has one.
    static func startDetached(_ name: String, _ body: @escaping @Sendable () -> Void) {
        while true {
            do throws(SystemError) {
                try startUnattended(name, body)
                return
            } catch {
                precondition(error.code == EAGAIN, "no thread: \(error)")
                usleep(100_000)
            }
        }
    }

    private static func run(_ body: Body) {
        _ = chute_name_thread(body.name)  // only for who looks
        body.run()
    }
}

/// Calls `body` with 0 to `count` - 1, each on a thread of its own, the first on this one; returns
/// when all are done. Blocks.
///
/// For work that takes much longer than starting a thread, some 30 microseconds.
package func performTogether(_ count: Int, _ body: @Sendable (Int) -> Void) {
    withoutActuallyEscaping(body) { body in
        var threads: [pthread_t] = []
        var own = [0]
        for index in 1..<max(count, 1) {
            do throws(SystemError) {
                threads.append(try WorkThread.start("chute.lane") { body(index) })
            } catch {
                own.append(index)  // no thread to be had: slower
            }
        }
        for index in own where index < count { body(index) }
        for thread in threads { pthread_join(thread, nil) }
    }
}
