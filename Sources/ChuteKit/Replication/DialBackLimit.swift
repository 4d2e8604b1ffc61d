/// How often members may have this device dial: one address at a time for each, and so many within
/// a minute. A value without I/O or clock.
struct DialBackLimit {
    static let perMinute = 6
    private static let window = Duration.seconds(60)

    private struct Use {
        var starts: [Duration] = []
        var isDialling = false
    }

    private var uses: [DeviceID: Use] = [:]

    /// Whether a device may have something dialled at `now`, which never goes back. For each yes
    /// `end` is called once.
    mutating func begin(_ device: DeviceID, now: Duration) -> Bool {
        for (other, use) in uses
        where !use.isDialling && !use.starts.contains(where: { now - $0 < Self.window }) {
            uses[other] = nil
        }
        var use = uses[device] ?? Use()
        use.starts.removeAll { now - $0 >= Self.window }
        guard !use.isDialling, use.starts.count < Self.perMinute else { return false }
        use.starts.append(now)
        use.isDialling = true
        uses[device] = use
        return true
    }

    mutating func end(_ device: DeviceID) { uses[device]?.isDialling = false }
}
