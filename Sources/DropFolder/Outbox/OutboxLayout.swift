/// Where a received file goes below the outbox: a template such as `{peer}/{path}`.
///
/// Placeholders: `{peer}`, `{path}`, `{name}`, `{type}`, `{year}`, `{month}`, `{day}`,
/// `{collection}`. Expansion works on bytes; what it gives still passes `OutboxNaming`, which
/// refuses or maps each component.
package struct OutboxLayout: Hashable, Sendable, CustomStringConvertible {
    /// What a template is filled with.
    package struct Values: Sendable {
        package var peer: [UInt8]
        /// The components of the path in the sender's inbox.
        package var path: [[UInt8]]
        package var type: [UInt8]
        package var collection: [UInt8]
        package var date: CalendarDate
        /// Stands in for a value that cannot be a name: the first 8 characters of the device id.
        package var fallback: [UInt8]

        package init(
            peer: [UInt8], path: [[UInt8]], type: [UInt8], collection: [UInt8],
            date: CalendarDate, fallback: [UInt8]
        ) {
            self.peer = peer
            self.path = path
            self.type = type
            self.collection = collection
            self.date = date
            self.fallback = fallback
        }
    }

    /// Why a template is no layout; described by one sentence without a full stop.
    package enum Problem: Error, Hashable, CustomStringConvertible {
        case unknownPlaceholder(String)
        case unbalancedBrace
        case controlCharacter
        /// Empty, absolute, or with `.`, `..` or an empty name in it.
        case notARelativePath
        /// Neither `{path}` nor `{name}` in the last component: all files would have one name.
        case namesNoFile
        /// `{path}` before the last component: a file cannot be a folder.
        case pathIsNotLast

        package var description: String {
            switch self {
            case .unknownPlaceholder(let name):
                "{\(name)} is unknown, expected one of "
                    + Placeholder.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
            case .unbalancedBrace: "a brace without its partner in a layout"
            case .controlCharacter: "a control character in a layout"
            case .notARelativePath:
                "a layout is a path below the outbox, without empty names, \".\" and \"..\""
            case .namesNoFile: "the last part of a layout needs {path} or {name}"
            case .pathIsNotLast: "{path} stands before the last part of a layout"
            }
        }
    }

    private enum Placeholder: String, CaseIterable {
        case peer, path, name, type, year, month, day, collection
    }

    private enum Piece: Hashable {
        case literal([UInt8])
        case value(Placeholder)
    }

    private let parts: [[Piece]]

    /// `{peer}/{path}`.
    package static let standard = OutboxLayout(parts: [[.value(.peer)], [.value(.path)]])

    private init(parts: [[Piece]]) { self.parts = parts }

    /// Reads a template.
    package init(_ template: String) throws(Problem) {
        var parts: [[Piece]] = []
        for part in template.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            parts.append(try Self.pieces(of: Array(part)))
        }
        for part in parts.dropLast() where part.contains(.value(.path)) {
            throw .pathIsNotLast
        }
        guard let last = parts.last, last.contains(.value(.path)) || last.contains(.value(.name))
        else { throw .namesNoFile }
        self.parts = parts
    }

    private static func pieces(of part: [UInt8]) throws(Problem) -> [Piece] {
        guard !part.isEmpty, part != Array(".".utf8), part != Array("..".utf8)
        else { throw .notARelativePath }
        if part.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw .controlCharacter }
        var pieces: [Piece] = []
        var rest = part[...]
        while !rest.isEmpty {
            let literal = rest.prefix { $0 != UInt8(ascii: "{") }
            if literal.contains(UInt8(ascii: "}")) { throw .unbalancedBrace }
            if !literal.isEmpty { pieces.append(.literal(Array(literal))) }
            rest = rest.dropFirst(literal.count)
            guard !rest.isEmpty else { break }
            guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else { throw .unbalancedBrace }
            let name = String(decoding: rest[rest.startIndex..<end].dropFirst(), as: UTF8.self)
            guard let placeholder = Placeholder(rawValue: name) else {
                throw .unknownPlaceholder(name)
            }
            pieces.append(.value(placeholder))
            rest = rest[(end + 1)...]
        }
        return pieces
    }

    /// The template as it is written.
    package var description: String {
        parts.map { part in
            part.map { piece in
                switch piece {
                case .literal(let bytes): String(decoding: bytes, as: UTF8.self)
                case .value(let placeholder): "{\(placeholder.rawValue)}"
                }
            }.joined()
        }.joined(separator: "/")
    }

    /// The components that `values` give. Only `{path}` may give several.
    package func expand(_ values: Values) -> [[UInt8]] {
        var components: [[UInt8]] = []
        for part in parts {
            var open: [UInt8] = []
            for piece in part {
                switch piece {
                case .literal(let bytes): open += bytes
                case .value(.path):
                    for component in values.path.dropLast() {
                        components.append(open + component)
                        open = []
                    }
                    open += values.path.last ?? []
                case .value(let placeholder): open += Self.single(placeholder, values)
                }
            }
            components.append(open)
        }
        return components
    }

    private static func single(_ placeholder: Placeholder, _ values: Values) -> [UInt8] {
        let value: [UInt8] =
            switch placeholder {
            case .peer: values.peer
            case .path, .name: values.path.last ?? []
            case .type: values.type
            case .collection: values.collection
            case .year: Array(values.date.yearText.utf8)
            case .month: Array(values.date.monthText.utf8)
            case .day: Array(values.date.dayText.utf8)
            }
        let isRefused =
            value.isEmpty || value == Array(".".utf8) || value == Array("..".utf8)
            || value.contains(0)
        if isRefused { return values.fallback }
        return value.flatMap { $0 == UInt8(ascii: "/") ? Array("%2F".utf8) : [$0] }
    }
}
