import ChuteSystem
import DropFolder

/// Documents and skipped names as tables.
enum ListText {
    static func text(_ list: DocumentList, onlySkipped: Bool) -> String {
        var lines: [String] = []
        if !onlySkipped {
            lines += TextTable.lines(list.documents.map(row))
            if list.documents.isEmpty { lines.append("no files yet") }
        }
        if onlySkipped, list.skipped.isEmpty { lines.append("nothing is skipped") }
        if !list.skipped.isEmpty {
            if !onlySkipped { lines += ["", "skipped"] }
            lines += skipped(list.skipped, indentation: onlySkipped ? "" : "  ")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    static func skipped(
        _ skipped: some Sequence<StatusReport.Skipped>, indentation: String
    ) -> [String] {
        TextTable.lines(
            skipped.map { [$0.path.description, $0.reason, Log.escaped($0.detail)] },
            indentation: indentation)
    }

    private static func row(_ document: DocumentList.Document) -> [String] {
        let receipts = document.receipts.map { "\($0.peer): \($0.state)" }
        return [
            document.name.description, document.type, ByteCount.text(document.size),
            Log.escaped(document.origin), document.state,
            Log.escaped(receipts.joined(separator: ", ")),
        ]
    }
}
