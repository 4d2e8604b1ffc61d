/// Columns of plain text, each as wide as its longest cell.
enum TextTable {
    /// Lines with two spaces between columns; the last column is not padded.
    static func lines(_ rows: [[String]], indentation: String = "") -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = indentation
            for (column, cell) in row.enumerated() {
                line += cell
                if column + 1 < row.count {
                    line += String(repeating: " ", count: widths[column] - cell.count + 2)
                }
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
