import ChuteSystem
import DropFolder

/// What a person would sensibly do next.
enum NextStep {
    /// One step, the most urgent; `nil` where everything is delivered.
    static func of(_ report: StatusReport) -> String? {
        if let removers = report.removedBy {
            // Whoever knows it says so, not only who did it.
            let who = Log.escaped(removers.joined(separator: ", "))
            return "this device was removed from the space"
                + (removers.isEmpty ? "" : ", as \(who) \(removers.count == 1 ? "says" : "say")")
                + ": run `chute leave`, which keeps all files; to come back, join with a new ticket"
        }
        if !report.running {
            return "start the agent: `chute run`, or `chute service install` to have it always"
        }
        if report.folders.isEmpty {
            return "no folder is configured: add a [[folder]] (`chute config path`)"
        }
        if let waiting = report.folders.first(where: { $0.state != "running" }) {
            return Log.escaped("\(waiting.collection) is \(waiting.state)") + remedy(waiting.state)
        }
        if report.peers.isEmpty { return "no peers yet: run `chute invite`" }
        if !report.peers.contains(where: \.connected) {
            return "no peer is connected: see that Chute runs there and the network is up"
        }
        if let waiting = waitingForAbsent(report) { return waiting }
        let pending = report.folders.reduce(0) { $0 + $1.pending }
        let count = max(pending, report.transfers.count)
        if count > 0 {
            let files = count == 1 ? "1 file is on its way" : "\(count) files are on their way"
            let names = report.peers.filter { peer in
                peer.connected
                    && report.folders.flatMap(\.peers).contains {
                        $0.id == peer.id && $0.pending > 0
                    }
            }.map { Log.escaped($0.name) }
            guard !names.isEmpty else { return "nothing to do, \(files)" }
            return "nothing to do, \(files); where they do not come, `chute status` at "
                + "\(names.joined(separator: ", ")) says why"
        }
        if let open = stillOpen(report) { return open }
        let hasTraffic = report.folders.contains { $0.shared > 0 || $0.delivered > 0 }
        if !hasTraffic, let inbox = report.folders.lazy.compactMap(\.inbox).first {
            return "drop a file into \(inbox)"
        }
        return nil
    }

    /// What to do about a folder that waits; empty where nothing is known to help.
    private static func remedy(_ state: String) -> String {
        switch state {
        case "waiting: not-mounted":
            ", its folder is not there or not the one that it was: mount its drive, or name "
                + "another folder in the configuration (`chute config path`) where it is gone for "
                + "good"
        case "waiting: held-elsewhere":
            ", another agent has its folder: stop that one, or name another folder in the "
                + "configuration (`chute config path`)"
        default: ""
        }
    }

    /// What is not shared yet or not here yet, and goes on by itself.
    private static func stillOpen(_ report: StatusReport) -> String? {
        func total(_ reasons: [SkipReason]) -> Int {
            report.folders.reduce(0) { sum, folder in
                let waiting = folder.apart[.waiting] ?? [:]
                return sum + reasons.reduce(0) { $0 + (waiting[$1.rawValue] ?? 0) }
            }
        }
        func files(_ count: Int, _ one: String, _ several: String) -> String {
            count == 1 ? "1 file \(one)" : "\(count) files \(several)"
        }
        var open: [String] = []
        // Those that nobody can send now are listed with what waits.
        let coming = report.folders.reduce(0) { $0 + $1.coming } - total([.noSource])
        if coming > 0 {
            open.append(files(coming, "of others is still to come", "of others are still to come"))
        }
        let inInbox: [SkipReason] = [.busy, .changing]
        let here = total(SkipReason.allCases.filter { !inInbox.contains($0) })
        if here > 0 {
            open.append(files(here, "of others waits, see above", "of others wait, see above"))
        }
        let settling = max(report.folders.reduce(0) { $0 + $1.settling }, total(inInbox))
        if settling > 0 {
            open.append(
                files(
                    settling, "in the inbox is shared once it is whole",
                    "in the inbox are shared once they are whole"))
        }
        guard !open.isEmpty else { return nil }
        return (here > 0 ? "" : "nothing to do, ") + open.joined(separator: "; ")
    }

    /// Said where only peers that are not connected have something to come.
    private static func waitingForAbsent(_ report: StatusReport) -> String? {
        let waiting = report.folders.flatMap(\.peers).filter { $0.pending > 0 }
        let absent = report.peers.filter { peer in
            !peer.connected && waiting.contains { $0.id == peer.id }
        }
        let ids = Set(absent.map(\.id))
        guard report.transfers.isEmpty, !absent.isEmpty, waiting.allSatisfy({ ids.contains($0.id) })
        else { return nil }
        let names = absent.map { Log.escaped($0.name) }.joined(separator: ", ")
        return "nothing to do, the rest goes to \(names) when connected again"
    }
}
