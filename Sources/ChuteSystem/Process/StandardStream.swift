import Glibc

/// Standard output or standard error, written without buffering.
///
/// ## Concurrency
/// Holds nothing but a number: whole writes of two threads may follow each other in any order.
package struct StandardStream: Sendable {
    package let descriptor: Int32

    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    /// Nobody reads any more: whoever writes ends quietly.
    package struct Closed: Error {}

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// Writes all of `bytes`. Calls `write`; SIGPIPE must be ignored by the process.
    package func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&readiness, 1, -1)  // a failure shows in the next write
            } else if errno == EPIPE {
                throw Closed()
            } else if errno != EINTR {
                throw SystemError.current("write")
            }
        }
    }

    package func write(_ text: String) throws { try write(Array(text.utf8)) }

    /// Writes `text` and a line end.
    package func writeLine(_ text: String = "") throws { try write(text + "\n") }
}
