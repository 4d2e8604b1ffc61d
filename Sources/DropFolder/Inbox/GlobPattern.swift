/// One pattern for names, matched on bytes.
///
/// `*` is any run of bytes without `/`, `**` any run with it, `?` one byte but `/`, `[a-z]` and
/// `[!a-z]` one byte in or not in a set, `\` takes the next byte as it is. A pattern without `/`
/// matches any component of a path; one with `/` the path from the root of the inbox on. A `/`
/// at the end stands for folders only.
struct GlobPattern: Hashable, Sendable {
    private enum Element: Hashable, Sendable {
        case byte(UInt8)
        case any
        case run(crossesFolders: Bool)
        case set([ClosedRange<UInt8>], isNegated: Bool)

        var byte: UInt8? { if case .byte(let byte) = self { byte } else { nil } }
        var isByte: Bool { byte != nil }
    }

    let matchesFoldersOnly: Bool
    let matchesWholePath: Bool
    private let elements: [Element]
    /// The bytes that every match begins and ends with.
    private let head: [UInt8]
    private let tail: [UInt8]

    init(_ text: some Sequence<UInt8>) {
        var bytes = Array(text)
        matchesFoldersOnly = bytes.last == UInt8(ascii: "/")
        if matchesFoldersOnly { bytes.removeLast() }
        matchesWholePath = bytes.contains(UInt8(ascii: "/"))
        if bytes.first == UInt8(ascii: "/") { bytes.removeFirst() }
        elements = Self.parse(bytes[...])
        head = elements.prefix(while: \.isByte).compactMap(\.byte)
        tail = elements.reversed().prefix(while: \.isByte).reversed().compactMap(\.byte)
    }

    private static func parse(_ text: ArraySlice<UInt8>) -> [Element] {
        var rest = text
        var elements: [Element] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "*"):
                let isDouble = rest.first == byte
                rest = rest.drop { $0 == byte }
                elements.append(.run(crossesFolders: isDouble))
            case UInt8(ascii: "?"): elements.append(.any)
            case UInt8(ascii: "\\"): elements.append(.byte(rest.popFirst() ?? byte))
            case UInt8(ascii: "["):
                if let set = parseSet(&rest) {
                    elements.append(set)
                } else {
                    elements.append(.byte(byte))  // never closed: a bracket is a bracket
                }
            default: elements.append(.byte(byte))
            }
        }
        return elements
    }

    private static func parseSet(_ text: inout ArraySlice<UInt8>) -> Element? {
        var rest = text
        let isNegated = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
        if isNegated { rest.removeFirst() }
        var ranges: [ClosedRange<UInt8>] = []
        while let first = rest.popFirst() {
            if first == UInt8(ascii: "]"), !ranges.isEmpty {
                text = rest
                return .set(ranges, isNegated: isNegated)
            }
            var last = first
            if rest.first == UInt8(ascii: "-"), let end = rest.dropFirst().first,
                end != UInt8(ascii: "]")
            {
                last = end
                rest = rest.dropFirst(2)
            }
            ranges.append(min(first, last)...max(first, last))
        }
        return nil
    }

    /// Whether `name` as a whole matches. Takes at most length of name times length of pattern.
    func matches(_ name: some RandomAccessCollection<UInt8>) -> Bool {
        // Most patterns are out by their first or last bytes.
        guard name.count >= max(head.count, tail.count),
            zip(head, name).allSatisfy(==), zip(tail, name.suffix(tail.count)).allSatisfy(==)
        else { return false }
        let name = Array(name)
        // Which prefixes of the name the elements so far can match.
        var reached = [Bool](repeating: false, count: name.count + 1)
        reached[0] = true
        for element in elements {
            switch element {
            case .run(let crossesFolders):
                for index in name.indices
                where reached[index] && (crossesFolders || name[index] != UInt8(ascii: "/")) {
                    reached[index + 1] = true
                }
            default:
                for index in name.indices.reversed() {
                    reached[index + 1] = reached[index] && matches(element, name[index])
                }
                reached[0] = false
            }
        }
        return reached[name.count]
    }

    private func matches(_ element: Element, _ byte: UInt8) -> Bool {
        switch element {
        case .byte(let wanted): byte == wanted
        case .any, .run: byte != UInt8(ascii: "/")
        case .set(let ranges, let isNegated):
            byte != UInt8(ascii: "/") && ranges.contains { $0.contains(byte) } != isNegated
        }
    }
}
