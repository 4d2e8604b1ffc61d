/// How the program ends; scripts and the service manager go by it.
enum ExitCode: Int32, Sendable {
    case success = 0
    case failed = 1
    /// `status` of an agent that does not run.
    case notRunning = 3
    /// The command line is wrong.
    case usage = 64
    /// Nothing answers: a peer, the service manager.
    case unavailable = 69
    case exists = 73
    /// Another agent holds the home or a folder.
    case heldElsewhere = 75
    /// The configuration is wrong or missing.
    case configuration = 78
}
