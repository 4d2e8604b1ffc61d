import CTOML

/// A TOML text as a tree in which every key and value knows its line and column.
package struct TOMLDocument: Hashable, Sendable {
    /// The top table's entries, in the order of the text.
    package let entries: [TOMLEntry]

    /// Why a text is not TOML, and where.
    package struct ParseError: Error, Hashable, Sendable {
        package let position: TOMLPosition
        package let message: String
    }

    /// Parses `text`, which must be UTF-8. Calls toml++.
    package init(parsing text: [UInt8]) throws(ParseError) {
        let document = text.withUnsafeBytes { raw in
            chute_toml_parse(raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count)
        }
        guard let document else {
            throw ParseError(position: .start, message: "not enough memory to read it")
        }
        defer { chute_toml_free(document) }
        var line: UInt32 = 0
        var column: UInt32 = 0
        if let message = chute_toml_error(document, &line, &column) {
            throw ParseError(
                position: TOMLPosition(line: Int(max(line, 1)), column: Int(max(column, 1))),
                message: String(cString: message))
        }
        var count = 0
        let nodes = UnsafeBufferPointer(start: chute_toml_nodes(document, &count), count: count)
        var next = 0
        guard case .table(let entries) = Self.value(in: nodes, at: &next)?.content else {
            throw ParseError(position: .start, message: "no table at the top")
        }
        self.entries = entries
    }

    private static func value(
        in nodes: UnsafeBufferPointer<chute_toml_node>, at next: inout Int
    ) -> TOMLValue? {
        guard next < nodes.count else { return nil }
        let node = nodes[next]
        next += 1
        let position = place(node.line, node.column)
        switch Int(node.kind) {
        case Int(CHUTE_TOML_TABLE):
            var entries: [TOMLEntry] = []
            for _ in 0..<node.children {
                guard next < nodes.count else { return nil }
                let inner = nodes[next]
                guard let value = value(in: nodes, at: &next) else { return nil }
                entries.append(
                    TOMLEntry(
                        key: text(inner.key, inner.key_length),
                        position: place(inner.key_line, inner.key_column), value: value))
            }
            entries.sort { $0.position < $1.position }  // toml++ keeps tables sorted by key
            return TOMLValue(position: position, content: .table(entries))
        case Int(CHUTE_TOML_ARRAY):
            var values: [TOMLValue] = []
            for _ in 0..<node.children {
                guard let value = value(in: nodes, at: &next) else { return nil }
                values.append(value)
            }
            return TOMLValue(position: position, content: .array(values))
        case Int(CHUTE_TOML_STRING):
            let string = text(node.text, node.text_length)
            return TOMLValue(position: position, content: .string(string))
        case Int(CHUTE_TOML_INTEGER):
            return TOMLValue(position: position, content: .integer(node.integer))
        case Int(CHUTE_TOML_REAL):
            return TOMLValue(position: position, content: .real(node.real))
        case Int(CHUTE_TOML_BOOLEAN):
            return TOMLValue(position: position, content: .boolean(node.integer != 0))
        default:
            let time = text(node.text, node.text_length)
            return TOMLValue(position: position, content: .time(time))
        }
    }

    private static func place(_ line: UInt32, _ column: UInt32) -> TOMLPosition {
        TOMLPosition(line: Int(max(line, 1)), column: Int(max(column, 1)))
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }
}
