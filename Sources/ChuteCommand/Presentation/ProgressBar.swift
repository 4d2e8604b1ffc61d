/// How much of something is done, as a bar and a percentage.
enum ProgressBar {
    /// The share done in whole percent, rounded down: 100 means all. Nothing to do is done.
    static func percent(_ done: UInt64, of total: UInt64) -> Int {
        guard total > 0, done < total else { return 100 }
        return Int((Double(done) / Double(total) * 100).rounded(.down))
    }

    /// `[#####-----]` with `width` characters between the brackets.
    static func bar(_ done: UInt64, of total: UInt64, width: Int) -> String {
        let filled = percent(done, of: total) * width / 100
        return "[" + String(repeating: "#", count: filled)
            + String(repeating: "-", count: width - filled) + "]"
    }
}
