import Glibc

/// A system call that failed: the call, the code, and what it was called on.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `errno` value.
    package let code: Int32
    /// The C call that failed, such as `openat`.
    package let call: String
    /// The file or address it was called on, if there is one.
    package let path: BytePath?

    package init(code: Int32, call: String, path: BytePath? = nil) {
        self.code = code
        self.call = call
        self.path = path
    }

    /// Reads `errno`. Must directly follow the failed call.
    package static func current(_ call: String, _ path: BytePath? = nil) -> SystemError {
        SystemError(code: errno, call: call, path: path)
    }

    /// The system's own words, such as "No such file or directory".
    package var reason: String { String(cString: strerror(code)) }

    package var description: String {
        if let path { return "\(path): \(reason) (\(call))" }
        return "\(reason) (\(call))"
    }

    package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }
    package var isNoSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// This process, or the machine, has too little of something: it says nothing of the file.
    package var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EINTR].contains(code) }
    package var exists: Bool { code == EEXIST }
    /// The place may not be written: a read-only file system, or no right to.
    package var isUnwritable: Bool { code == EROFS || code == EACCES || code == EPERM }
}

/// Calls `body` again as long as a signal interrupts it; throws what else fails.
@inline(__always)
package func retrying<Result: SignedInteger>(
    _ call: String, _ path: BytePath? = nil, _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        if result >= 0 { return result }
        if errno != EINTR { throw .current(call, path) }
    }
}
