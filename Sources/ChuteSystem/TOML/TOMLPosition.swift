/// A place in a text: line and column, both from 1.
package struct TOMLPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static let start = TOMLPosition(line: 1, column: 1)

    package static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    package var description: String { "\(line):\(column)" }
}
