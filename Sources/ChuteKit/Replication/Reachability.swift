/// What one connected device says about an address of this one: see ``Chute/reachability(at:)``.
public enum Reachability: Hashable, Sendable {
    /// This device answers there.
    case reached
    /// Nobody answers there, or somebody else.
    case notReached
    /// It was asked more often than it dials for others: six times a minute.
    case askedTooOften
    /// It does not dial such an address for others.
    case notDialled
    /// It did not answer the question: it may be of an earlier version.
    case silent
}

extension Reachability {
    /// `nil` where nothing was tried.
    var isReached: Bool? {
        switch self {
        case .reached: true
        case .notReached: false
        case .askedTooOften, .notDialled, .silent: nil
        }
    }
}

/// How often each device was asked to dial. A value without I/O or clock.
///
/// The answer does not say why nothing was dialled; who asks knows how often it did.
struct AskedDialBacks {
    private var times: [DeviceID: [Duration]] = [:]
    /// A little more than the other end counts by: an answer takes its time.
    private static let window = Duration.seconds(65)

    /// Notes that `device` is asked at `now`, which never goes back.
    mutating func note(_ device: DeviceID, now: Duration) {
        for (other, asked) in times {
            let recent = asked.filter { now - $0 < Self.window }
            times[other] = recent.isEmpty ? nil : recent
        }
        times[device, default: []].append(now)
    }

    /// What an answer means. `isPublic` says that the address is one that anybody dials.
    func meaning(of word: DialedBack.Word?, from device: DeviceID, isPublic: Bool) -> Reachability {
        switch word {
        case .reached: .reached
        case .notReached: .notReached
        case .notTried:
            isPublic || times[device, default: []].count > DialBackLimit.perMinute
                ? .askedTooOften : .notDialled
        case nil: .silent
        }
    }
}
