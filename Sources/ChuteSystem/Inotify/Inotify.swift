import CLinux
import Glibc
import Synchronization

/// Tells what happens in watched folders.
///
/// A thread of its own drains the kernel's queue into a bounded one of ours and does nothing
/// else, so that a burst is not lost while somebody works. Where events were lost all the same,
/// one of mask `overflow` says so: look at everything again.
///
/// ## Concurrency
/// Every method may be called from anywhere. The reading thread owns the reading end; what
/// crosses lies in `InotifyQueue`. `stop()`, or the last reference, ends the thread and waits
/// for it.
package final class Inotify: Sendable {
    /// The descriptors, closed when neither the owner nor the thread needs them.
    private final class Ends: Sendable {
        let events: FileDescriptor
        let wakeup: FileDescriptor
        let queue: InotifyQueue

        init(
            events: consuming FileDescriptor, wakeup: consuming FileDescriptor,
            queue: InotifyQueue
        ) {
            self.events = events
            self.wakeup = wakeup
            self.queue = queue
        }
    }

    private let ends: Ends
    private let thread: Mutex<pthread_t?>

    /// Starts the thread. `whenReady` is called on it, briefly, when events arrive in an empty
    /// queue, and once after `stop()`.
    ///
    /// Throws `EMFILE` where the user has no instance left
    /// (`fs.inotify.max_user_instances`). Calls `inotify_init1`.
    package init(
        capacity: Int = 32_768, whenReady: (@Sendable () -> Void)? = nil
    ) throws(SystemError) {
        let events = FileDescriptor(
            owning: try retrying("inotify_init1") {
                inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            })
        let wakeup = FileDescriptor(owning: try retrying("eventfd") { chute_eventfd() })
        let queue = InotifyQueue(capacity: capacity, whenReady: whenReady)
        ends = Ends(events: events, wakeup: wakeup, queue: queue)
        var started = pthread_t()
        let argument = Unmanaged.passRetained(ends)
        let result = pthread_create(
            &started, nil,
            { argument in
                guard let argument else { return nil }
                Inotify.drain(Unmanaged<Ends>.fromOpaque(argument).takeRetainedValue())
                return nil
            }, argument.toOpaque())
        guard result == 0 else {
            argument.release()
            throw SystemError(code: result, call: "pthread_create")
        }
        thread = Mutex(started)
    }

    deinit { stop() }

    /// All events that are queued, as soon as there is one; `nil` after `stop()` or when the
    /// task is cancelled. For one caller at a time.
    package func next() async -> [InotifyEvent]? { await ends.queue.next() }

    /// All events that are queued, without waiting; `nil` after `stop()`.
    package func take() -> [InotifyEvent]? { ends.queue.take() }

    /// Watches an open folder, whatever becomes of its path. Watching one twice gives the same
    /// watch.
    ///
    /// Throws `ENOSPC` where the user has no watch left (`fs.inotify.max_user_watches`),
    /// `EACCES` where the folder cannot be read. Calls `inotify_add_watch`.
    package func watch(
        _ folder: borrowing Folder, for mask: InotifyEvent.Mask = .content
    ) throws(SystemError) -> InotifyEvent.Watch {
        // The path of the descriptor, since there is no call that takes one.
        try watch(path: BytePath("/proc/self/fd/\(folder.descriptor.raw)"), for: mask)
    }

    /// Watches the folder at `path`. Calls `inotify_add_watch`.
    package func watch(
        path: BytePath, for mask: InotifyEvent.Mask = .content
    ) throws(SystemError) -> InotifyEvent.Watch {
        let number = try path.withCString { pointer throws(SystemError) in
            try retrying("inotify_add_watch", path) {
                inotify_add_watch(ends.events.raw, pointer, mask.rawValue | UInt32(IN_ONLYDIR))
            }
        }
        return InotifyEvent.Watch(number: number)
    }

    /// Ends a watch; one that is gone already is fine. Calls `inotify_rm_watch`.
    package func remove(_ watch: InotifyEvent.Watch) {
        // The only failure there can be is that the kernel removed it before us.
        _ = inotify_rm_watch(ends.events.raw, watch.number)
    }

    /// Ends the thread and waits for it. Idempotent; not to be called from `whenReady`.
    package func stop() {
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let running else { return }
        var one = UInt64(1)
        _ = write(ends.wakeup.raw, &one, MemoryLayout<UInt64>.size)
        if pthread_equal(running, pthread_self()) != 0 {
            pthread_detach(running)  // the last reference went in `whenReady`
        } else {
            pthread_join(running, nil)
        }
    }

    private static func drain(_ ends: Ends) {
        let size = 64 << 10
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer {
            buffer.deallocate()
            ends.queue.close()
        }
        var waiting = [
            pollfd(fd: ends.events.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ends.wakeup.raw, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            if poll(&waiting, 2, -1) < 0 {
                if errno == EINTR { continue }
                return
            }
            if waiting[1].revents != 0 { return }
            let count = read(ends.events.raw, buffer.baseAddress, size)
            if count > 0 {
                let filled = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                ends.queue.append(InotifyEvent.decode(filled))
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                // Nothing more will come; whoever waits has to look by itself.
                ends.queue.append([.overflow])
                return
            }
        }
    }
}

extension SystemError {
    /// Which limit of inotify is used up and how to raise it; `nil` for any other error.
    package var inotifyLimitRemedy: String? {
        switch (call, code) {
        case ("inotify_add_watch", ENOSPC):
            "all inotify watches of this user are in use: raise fs.inotify.max_user_watches"
        case ("inotify_init1", EMFILE):
            "all inotify instances of this user are in use: raise fs.inotify.max_user_instances"
        default: nil
        }
    }
}
