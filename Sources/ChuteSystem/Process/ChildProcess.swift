import CLinux
import Glibc

/// A program started by this one.
///
/// Whoever starts it waits for it: nothing ends it when this value goes.
package struct ChildProcess: Sendable {
    package let identifier: Int32

    /// How a program ended.
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)

        /// By what `waitpid` says.
        init(waitStatus status: Int32) {
            let signal = status & 0x7F
            self = signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
        }
    }

    /// Starts the program at `path`, or of that name on `PATH` where it holds no slash.
    ///
    /// Standard input is empty; `output` and `error` are descriptors that the program writes to.
    /// Signals ignored here are at their defaults there. Calls `posix_spawnp`.
    package init(
        starting path: BytePath, _ arguments: [BytePath],
        environment: ProcessEnvironment = .current, output: Int32, error: Int32
    ) throws(SystemError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, error, 2)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGIO, SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let variables = environment.variables.map { name, value in
            BytePath(bytes: Array("\(name)=".utf8) + value.bytes)
        }
        var child = pid_t()
        let code = withCStrings([path] + arguments) { argumentList in
            withCStrings(variables) { variableList in
                path.withCString {
                    posix_spawnp(&child, $0, &actions, &attributes, argumentList, variableList)
                }
            }
        }
        guard code == 0 else { throw SystemError(code: code, call: "posix_spawnp", path: path) }
        identifier = child
    }

    /// Waits for the end of the program. Call it once. Blocks. Calls `waitpid`.
    package func wait() throws(SystemError) -> End {
        var status: Int32 = 0
        _ = try retrying("waitpid") { waitpid(identifier, &status, 0) }
        return End(waitStatus: status)
    }

    /// Sends a signal. The program must not have been waited for. Calls `kill`.
    package func send(signal: Int32) { _ = kill(identifier, signal) }
}

/// Calls `body` with a list of terminated strings that ends with a null pointer.
func withCStrings<Result>(
    _ strings: [BytePath], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    var pointers = strings.map { string in string.withCString { strdup($0) } }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    return body(pointers)
}
