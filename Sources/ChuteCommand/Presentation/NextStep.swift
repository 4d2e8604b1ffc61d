import ChuteSystem
import DropFolder

/// What a person would sensibly do next.
enum NextStep {
    /// One step, the most urgent; `nil` where everything is delivered.
    static func of(_ report: StatusReport) -> String? {
        if !report.running {
            return "start the agent: `chute run`, or `chute service install` to have it always"
        }
        if report.folders.isEmpty {
            return "no folder is configured: add a [[folder]] (`chute config path`)"
        }
        if let waiting = report.folders.first(where: { $0.state != "running" }) {
            return Log.escaped("\(waiting.collection) is \(waiting.state)")
        }
        if report.peers.isEmpty { return "no peers yet: run `chute invite`" }
        if !report.peers.contains(where: \.connected) {
            return "no peer is connected: see that `chute run` runs there and the network is up"
        }
        if let waiting = waitingForAbsent(report) { return waiting }
        let pending = report.folders.reduce(0) { $0 + $1.pending }
        let count = max(pending, report.transfers.count)
        if count > 0 {
            let files = count == 1 ? "1 file is on its way" : "\(count) files are on their way"
            return "nothing to do, \(files)"
        }
        let hasTraffic = report.folders.contains { $0.shared > 0 || $0.delivered > 0 }
        if !hasTraffic, let inbox = report.folders.lazy.compactMap(\.inbox).first {
            return "drop a file into \(inbox)"
        }
        return nil
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
