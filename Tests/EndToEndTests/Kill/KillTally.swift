/// How many kills came into which step, by what they left behind.
struct KillTally: CustomStringConvertible {
    /// How many kills must have come into each step.
    let quota: Int
    private(set) var kills = 0
    private var aimed: [KillStep: Int] = [:]
    private var hit: [KillStep: Int] = [:]
    private var seen: Set<Remains.Trace> = []
    private var withoutTrace = 0

    /// 20 of 400, and at least 3 of the 40 that there is time for elsewhere.
    init(of kills: Int) { quota = min(20, max(1, kills * 3 / 40)) }

    /// Takes a kill that was aimed at `step`, if at any, and left `traces`.
    ///
    /// A trace that an earlier kill left counts once.
    mutating func count(aimedAt step: KillStep?, _ traces: [Remains.Trace]) {
        kills += 1
        if let step { aimed[step, default: 0] += 1 }
        let fresh = Set(traces).subtracting(seen)
        seen.formUnion(fresh)
        let steps = Set(fresh.map(\.step))
        for step in steps { hit[step, default: 0] += 1 }
        if steps.isEmpty { withoutTrace += 1 }
    }

    /// The steps that too few kills came into.
    var missing: [KillStep] { KillStep.allCases.filter { hit[$0, default: 0] < quota } }

    var description: String {
        let rows = KillStep.allCases.map { step in
            [step.rawValue, "\(aimed[step, default: 0])", "\(hit[step, default: 0])"]
        }
        let lines = ([["step", "aimed", "traces"]] + rows).map { row in
            row[0].padded(to: 10) + row[1].padded(to: 8) + row[2]
        }
        return "KillTests: \(kills) kills, \(withoutTrace) of them in none of these steps\n"
            + lines.map { "    \($0)" }.joined(separator: "\n")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
