/// Counts the moments at which a program was awake, from looks at its threads.
struct WakeCount: CustomStringConvertible {
    /// What happens so soon after a wake belongs to it.
    static let burst = Duration.seconds(1)

    private(set) var bursts = 0
    /// How often each thread went to sleep; one that was started meanwhile has woken.
    private var wakes: [String: Int] = [:]
    private var known: [String: Int]
    private var burstEnd: Duration?

    /// `switches` is how often each thread went to sleep by itself so far, by its name.
    init(_ switches: [String: Int]) { known = switches }

    /// Takes the next look in, at a time since the first.
    mutating func look(_ switches: [String: Int], at time: Duration) {
        var isAwake = false
        for (thread, count) in switches where count != known[thread] {
            wakes[thread, default: 0] += known[thread].map { count - $0 } ?? count + 1
            isAwake = true
        }
        known = switches
        guard isAwake, burstEnd.map({ time >= $0 }) ?? true else { return }
        bursts += 1
        burstEnd = time + Self.burst
    }

    var description: String {
        let threads = wakes.sorted { $0.value > $1.value }.map { "\($0.key): \($0.value)" }
        return "awake \(bursts) times (\(threads.joined(separator: ", ")))"
    }
}
