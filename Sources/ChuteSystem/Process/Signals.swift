@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Makes SIGPIPE and SIGIO harmless, which otherwise end the process.
///
/// SIGPIPE comes with every write to a peer that is gone, SIGIO with every writer that meets a
/// lease of ours. Call it before anything else. Calls `signal`; a child inherits it unless its
/// start resets the two.
package func ignoreSignals() {
    _ = signal(SIGPIPE, SIG_IGN)
    _ = signal(SIGIO, SIG_IGN)
}

/// The signals by which somebody outside steers this process.
package enum Signal: Sendable, CaseIterable {
    case terminate, interrupt, hangup

    package var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangup: SIGHUP
        }
    }
}

/// The steering signals that arrive, in their order. One at a time in a process.
///
/// From `init` on they no longer end the process; they do again when nobody iterates any more.
/// A handler writes the number into a pipe: a signal source of Dispatch would need the signal
/// blocked in every thread, and children would inherit that.
package struct SignalSequence: AsyncSequence, Sendable {
    package typealias Element = Signal
    package typealias AsyncIterator = AsyncStream<Signal>.Iterator

    private let stream: AsyncStream<Signal>

    /// Throws where no pipe can be made. Calls `pipe` and `signal`.
    package init(_ signals: [Signal] = Signal.allCases) throws(SystemError) {
        let reading = try SignalPipe.readingEnd()
        let (stream, continuation) = AsyncStream.makeStream(
            of: Signal.self, bufferingPolicy: .bufferingNewest(16))
        let source = DispatchSource.makeReadSource(
            fileDescriptor: reading, queue: DispatchQueue(label: "chute.signals"))
        source.setEventHandler { @Sendable in
            var number = UInt8(0)
            while read(reading, &number, 1) == 1 {
                let signal = signals.first { $0.number == Int32(number) }
                if let signal { continuation.yield(signal) }
            }
        }
        source.activate()
        nonisolated(unsafe) let held = source  // cancelled once, from whatever thread
        continuation.onTermination = { @Sendable _ in
            for each in signals { _ = signal(each.number, SIG_DFL) }
            held.cancel()
        }
        for each in signals { _ = signal(each.number, SignalPipe.handler) }
        self.stream = stream
    }

    package func makeAsyncIterator() -> AsyncIterator { stream.makeAsyncIterator() }
}

/// The pipe from the handler to whoever iterates. Made once and never closed: a handler may run
/// at any moment, on any thread.
private enum SignalPipe {
    private static let writingEnd = Atomic<Int32>(-1)
    private static let ends = Mutex<Int32?>(nil)

    static func readingEnd() throws(SystemError) -> Int32 {
        try ends.withLock { reading throws(SystemError) in
            if let reading { return reading }
            var pair: [Int32] = [-1, -1]
            _ = try retrying("pipe") { pipe(&pair) }
            for end in pair {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            writingEnd.store(pair[1], ordering: .releasing)
            reading = pair[0]
            return pair[0]
        }
    }

    /// Does nothing that a signal handler may not: one load and one `write`.
    static let handler: @convention(c) (Int32) -> Void = { number in
        let error = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(writingEnd.load(ordering: .acquiring), &byte, 1)
        errno = error
    }
}
