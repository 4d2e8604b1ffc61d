import ChuteSystem
import DropFolder

/// The status as a person reads it.
struct StatusText {
    let report: StatusReport
    let terminal: Terminal
    let now: Timestamp
    /// Shown as `~` in paths.
    let userFolder: BytePath?

    /// How many skipped names of a folder are shown.
    private static let shownSkipped = 10
    /// How many transfers are shown, the ones that are furthest first.
    private static let shownTransfers = 10

    var text: String {
        var lines = [headline]
        lines += report.notes.map { "  " + Log.escaped($0) }
        if !report.peers.isEmpty {
            lines += ["", heading("peers")]
            lines += PeersText.lines(
                report.peers, now: now, showsIDs: false, indentation: "  ")
        }
        if !report.transports.isEmpty { lines += ["", heading("transports")] + transports }
        for folder in report.folders { lines += [""] + self.folder(folder) }
        if !report.transfers.isEmpty { lines += ["", heading("transfers")] + transfers }
        lines += ["", NextStep.of(report).map { "next: \($0)" } ?? "everything is delivered"]
        return lines.joined(separator: "\n") + "\n"
    }

    private var headline: String {
        let state = report.running ? coloured("running", 32) : coloured("not running", 33)
        // There is no id before the agent ran for the first time.
        let id = report.device.id.isEmpty ? "" : "  (\(report.device.id))"
        return "\(Log.escaped(report.device.name)) is \(state)\(id)"
    }

    private func folder(_ folder: StatusReport.FolderState) -> [String] {
        var title = heading(folder.collection)
        if folder.state != "running" { title += "  " + coloured(Log.escaped(folder.state), 33) }
        var lines = [title]
        var rows: [[String]] = []
        if let inbox = folder.inbox {
            var counts = "\(folder.shared) shared"
            if folder.pending > 0 { counts += ", \(folder.pending) pending" }
            rows.append(["inbox", shown(inbox), counts])
        }
        if let outbox = folder.outbox {
            rows.append(["outbox", shown(outbox), "\(folder.delivered) delivered here"])
        }
        lines += TextTable.lines(rows, indentation: "  ")
        let peers = folder.peers.map { delivery in [name(of: delivery.id), words(delivery)] }
        lines += TextTable.lines(peers, indentation: "  to ")
        return lines + skipped(folder)
    }

    private var transports: [String] {
        let unbuilt = report.transports.filter { $0.state == .notBuilt }.map(\.name.rawValue)
        let rows = report.transports.filter { $0.state != .notBuilt }.map { transport in
            [transport.name.rawValue, words(transport.state), Log.escaped(transport.detail)]
        }
        return TextTable.lines(
            rows
                + (unbuilt.isEmpty
                    ? [] : [[unbuilt.joined(separator: ", "), "not built yet", ""]]),
            indentation: "  ")
    }

    private func words(_ state: TransportStatus.State) -> String {
        switch state {
        case .running: "running"
        case .waiting: "waiting"
        case .impossible: "not possible here"
        case .off: "off"
        case .stopped: "stopped"
        case .notBuilt: "not built yet"
        }
    }

    private func words(_ delivery: StatusReport.Delivery) -> String {
        var words = ["\(delivery.delivered) delivered"]
        if delivery.pending > 0 {
            let bytes = ByteCount.text(delivery.bytesPending)
            words.append("\(delivery.pending) pending (\(bytes))")
        }
        if delivery.refused > 0 { words.append("\(delivery.refused) refused") }
        if delivery.notWanted > 0 { words.append("\(delivery.notWanted) not wanted") }
        if delivery.removed > 0 { words.append("\(delivery.removed) removed there since") }
        return words.joined(separator: ", ")
    }

    private func skipped(_ folder: StatusReport.FolderState) -> [String] {
        var leftOut = folder.skippedTotal
        for totals in folder.apart.values {
            leftOut.merge(totals) { all, apart in max(0, all - apart) }
        }
        return StatusReport.Skipped.Kind.allCases.flatMap { kind in
            let totals = kind == .leftOut ? leftOut : folder.apart[kind] ?? [:]
            return skipped(
                folder.skipped.filter { $0.kind == kind }, totals.filter { $0.value > 0 }, kind)
        }
    }

    private func skipped(
        _ skipped: [StatusReport.Skipped], _ totals: [String: Int],
        _ kind: StatusReport.Skipped.Kind
    ) -> [String] {
        guard !totals.isEmpty else { return [] }
        let reasons = totals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let shown = skipped.prefix(Self.shownSkipped)
        var lines = ["  \(ListText.heading(kind)): \(reasons)"]
        lines += ListText.skipped(shown, indentation: "    ")
        if totals.values.reduce(0, +) > shown.count {
            lines.append("    ... see `chute list --skipped`")
        }
        return lines
    }

    private var transfers: [String] {
        let all = report.transfers
        let done = all.reduce(0) { $0 &+ min($1.done, $1.total) }
        let total = all.reduce(0) { $0 &+ $1.total }
        var rows: [[String]] = []
        if all.count > 1 { rows.append(["together", progress(done, total)]) }
        let ordered = all.sorted {
            ProgressBar.percent($0.done, of: $0.total) > ProgressBar.percent($1.done, of: $1.total)
        }
        for transfer in ordered.prefix(Self.shownTransfers) {
            let way = transfer.direction == .incoming ? "from" : "to"
            // Several may send it.
            let peer = transfer.peer.isEmpty ? "" : " \(way) \(Log.escaped(transfer.peer))"
            rows.append([
                "\(transfer.name)\(peer)",
                progress(transfer.done, transfer.total),
            ])
        }
        var lines = TextTable.lines(rows, indentation: "  ")
        let rest = all.count - Self.shownTransfers
        if rest > 0 { lines.append("  and \(rest) more") }
        return lines
    }

    private func progress(_ done: UInt64, _ total: UInt64) -> String {
        let percent = String(ProgressBar.percent(done, of: total))
        let words =
            String(repeating: " ", count: 3 - percent.count)
            + "\(percent) %  \(ByteCount.text(done)) of \(ByteCount.text(total))"
        guard terminal.isTerminal else { return words }
        let width = max(8, min(24, terminal.width - 56))
        return ProgressBar.bar(done, of: total, width: width) + " " + words
    }

    private func name(of id: String) -> String {
        Log.escaped(report.peers.first { $0.id == id }?.name ?? id)
    }

    private func shown(_ path: BytePath) -> String {
        guard let userFolder, userFolder.bytes.count > 1,
            let below = path.relative(to: userFolder)
        else { return path.description }
        return below.isEmpty ? "~" : "~/\(below)"
    }

    private func heading(_ text: String) -> String { coloured(Log.escaped(text), 1) }

    private func coloured(_ text: String, _ code: Int) -> String {
        terminal.hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
