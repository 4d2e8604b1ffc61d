import ChuteSystem
import DropFolder

/// Documents and skipped names as tables.
enum ListText {
    static func text(_ list: DocumentList, onlySkipped: Bool) -> String {
        var lines: [String] = []
        if !onlySkipped {
            let count = idDigits(of: list.documents.map(\.id))
            lines += TextTable.lines(list.documents.map { row($0, idDigits: count) })
            if list.documents.isEmpty { lines.append("no files yet") }
        }
        if onlySkipped, list.skipped.isEmpty { lines.append("nothing is skipped") }
        for kind in StatusReport.Skipped.Kind.allCases {
            let some = list.skipped.filter { $0.kind == kind }
            guard !some.isEmpty else { continue }
            if !lines.isEmpty { lines.append("") }
            lines.append(heading(kind))
            lines += skipped(some, indentation: "  ")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    static func heading(_ kind: StatusReport.Skipped.Kind) -> String {
        switch kind {
        case .leftOut: "skipped"
        case .doubtful: "shared, but look at it"
        case .waiting: "waiting"
        case .clock: "clocks"
        }
    }

    static func skipped(
        _ skipped: some Sequence<StatusReport.Skipped>, indentation: String
    ) -> [String] {
        TextTable.lines(
            skipped.map { [$0.path.description, $0.reason, Log.escaped($0.detail)] },
            indentation: indentation)
    }

    /// How many digits of these ids tell each from the others; `retract` takes eight at least.
    static func idDigits(of ids: [String]) -> Int {
        var count = 8
        let longest = ids.map(\.count).max() ?? count
        while count < longest, Set(ids.map { $0.prefix(count) }).count < Set(ids).count {
            count += 2
        }
        return count
    }

    private static func row(_ document: DocumentList.Document, idDigits: Int) -> [String] {
        let receipts = document.receipts.map { "\($0.peer): \($0.state)" }
        return [
            String(document.id.prefix(idDigits)), document.name.description, document.type,
            ByteCount.text(document.size),
            Log.escaped(document.origin), document.state,
            Log.escaped(receipts.joined(separator: ", ")),
        ]
    }
}
