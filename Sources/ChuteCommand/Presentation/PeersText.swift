import ChuteSystem
import DropFolder

/// Members as a table.
enum PeersText {
    static func text(_ peers: [StatusReport.Peer], now: Timestamp, showsIDs: Bool) -> String {
        lines(peers, now: now, showsIDs: showsIDs, indentation: "").joined(separator: "\n") + "\n"
    }

    static func lines(
        _ peers: [StatusReport.Peer], now: Timestamp, showsIDs: Bool, indentation: String
    ) -> [String] {
        let rows = peers.map { peer in
            [Log.escaped(peer.name), peer.role, connection(peer, now)] + (showsIDs ? [peer.id] : [])
        }
        return TextTable.lines(rows, indentation: indentation)
    }

    private static func connection(_ peer: StatusReport.Peer, _ now: Timestamp) -> String {
        if peer.connected {
            let way = [peer.transport, peer.address].compactMap { $0 }.joined(separator: " ")
            return way.isEmpty ? "connected" : "connected by \(Log.escaped(way))"
        }
        guard let seen = peer.lastSeen else { return "never seen" }
        let isAbsent = Absence.isAbsent(
            lastHeard: UInt64(clamping: seen.seconds), now: UInt64(clamping: now.seconds))
        return "last seen \(seen.ago(now))" + (isAbsent ? ": nothing is held for it" : "")
    }
}
