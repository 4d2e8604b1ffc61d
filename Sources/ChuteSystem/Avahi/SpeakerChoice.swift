/// Decides who speaks multicast DNS for this process: the daemon wherever it answers.
///
/// Moments are counted from any one.
struct SpeakerChoice: Equatable {
    enum Daemon: Equatable {
        /// No D-Bus; when it is tried again.
        case unreachable(retry: Duration)
        /// D-Bus is there and will tell of a daemon.
        case absent
        case answering
    }

    enum Core: Equatable {
        case off
        case running
        /// Could not be started; when it is tried again.
        case failed(retry: Duration)
    }

    /// What to do next, one at a time: its outcome is told before the next is asked for.
    enum Step: Equatable {
        case reachForDaemon
        case stopCore
        case startCore
    }

    /// For how long a daemon that was there may be away, as while it starts anew.
    static let patience = Duration.seconds(2)
    static let longestPause = Duration.seconds(30)

    private(set) var daemon = Daemon.unreachable(retry: .zero)
    private(set) var core = Core.off
    /// From when on the core is wanted where no daemon is.
    private var coreMoment = Duration.zero
    private var daemonPause = Duration.seconds(1)
    private var corePause = Duration.seconds(1)

    func nextStep(now: Duration) -> Step? {
        if case .unreachable(let retry) = daemon, retry <= now { return .reachForDaemon }
        if daemon == .answering { return core == .running ? .stopCore : nil }
        guard coreMoment <= now else { return nil }
        switch core {
        case .off: return .startCore
        case .failed(let retry): return retry <= now ? .startCore : nil
        case .running: return nil
        }
    }

    /// When `nextStep` may be another one without anything having happened.
    var nextMoment: Duration? {
        var moments: [Duration] = []
        if case .unreachable(let retry) = daemon { moments.append(retry) }
        if daemon != .answering {
            if core == .off { moments.append(coreMoment) }
            if case .failed(let retry) = core { moments.append(retry) }
        }
        return moments.min()
    }

    /// The daemon was reached for, or D-Bus told of it; `nil` where there is no D-Bus.
    mutating func daemonIs(answering: Bool?, now: Duration) {
        if daemon == .answering, answering != true { coreMoment = now + Self.patience }
        switch answering {
        case true?:
            daemon = .answering
            daemonPause = .seconds(1)
        case false?:
            daemon = .absent
            daemonPause = .seconds(1)
        case nil:
            daemon = .unreachable(retry: now + daemonPause)
            daemonPause = min(daemonPause * 2, Self.longestPause)
        }
    }

    mutating func coreStarted() {
        core = .running
        corePause = .seconds(1)
    }

    mutating func coreStopped() { core = .off }

    mutating func coreFailed(now: Duration) {
        core = .failed(retry: now + corePause)
        corePause = min(corePause * 2, Self.longestPause)
    }
}
