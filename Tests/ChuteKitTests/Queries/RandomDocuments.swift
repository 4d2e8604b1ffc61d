import TestSupport

@testable import ChuteKit

/// Documents, conditions and queries that are the same for the same seed.
struct RandomDocuments {
    var random: SeededGenerator
    static let names = ["a", "b", "c"]
    static let paths: [FieldPath] = ["a", "b", ["c", "a"]]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[number(0...(elements.count - 1))]
    }

    /// Few different ones, so that many are equal; some over the limit of an index.
    mutating func value() -> Value {
        switch number(0...9) {
        case 0: .null
        case 1: .bool(number(0...1) == 1)
        case 2...4: .integer(Int64(number(-3...3)))
        case 5: .double(pick([-2.5, 0.5, 1, 1e300, .nan, -.infinity, -0.0]))
        case 6: .string(pick(["", "A", "AB", "a", "\u{0}", "é", "e\u{301}"]))
        case 7:
            .string(
                String(repeating: "x", count: pick([253, 254, 255, 300])) + pick(["", "y", "z"]))
        case 8: .bytes(pick([[], [0], [0, 0xFF], [1], [0xFF]]))
        default: pick([.array([1, "a"]), .array([1]), .map(["x": 1])])
        }
    }

    mutating func fields() -> Fields {
        var fields: Fields = [:]
        for name in ["a", "b"] where number(0...4) > 0 { fields[name] = value() }
        if number(0...1) == 0 { fields["c"] = .map(["a": value()]) }
        return fields
    }

    mutating func id() -> DocumentID { DocumentID(text: Array("d\(number(10...40))".utf8)) }

    mutating func predicate(depth: Int = 0) -> Predicate {
        let place = field(pick(Self.paths))
        switch number(0...(depth > 2 ? 8 : 11)) {
        case 0: return place == value()
        case 1: return place < value()
        case 2: return place <= value()
        case 3: return place > value()
        case 4: return place >= value()
        case 5: return place.hasPrefix(pick([.string("A"), .string(""), .bytes([0]), 1, "x"]))
        case 6: return place.isIn([value(), value(), value()])
        case 7: return pick([place.exists, .all, place != value()])
        case 8:
            return pick([.id(id()), .id(in: [id(), id()]), .id(after: id()), .id(before: id())])
        case 9: return predicate(depth: depth + 1) && predicate(depth: depth + 1)
        case 10: return predicate(depth: depth + 1) || predicate(depth: depth + 1)
        default: return !predicate(depth: depth + 1)
        }
    }

    mutating func query(_ store: Store, _ collection: String) -> Query {
        var query = store[collection].find(number(0...3) == 0 ? .all : predicate())
        for _ in 0..<pick([0, 1, 1, 2]) {
            query = query.sort(by: pick(Self.paths), pick([.ascending, .descending]))
        }
        if number(0...1) == 0 { query = query.limit(number(0...12)) }
        if number(0...2) == 0 { query = query.offset(number(0...5)) }
        return query
    }
}

/// What a query finds, said as plainly as can be.
struct NaiveQuery {
    let query: Query

    func run(_ documents: [DocumentID: Fields]) -> [DocumentID] {
        let found = documents.filter { matches(query.predicate, $0.value, $0.key) }.keys.sorted {
            left, right in
            for sort in query.sorting {
                let one = documents[left]?[sort.path]
                let two = documents[right]?[sort.path]
                let isFirst = Self.precedes(one, two)
                if isFirst == Self.precedes(two, one) { continue }
                return isFirst == (sort.direction == .ascending)
            }
            return left < right
        }
        return Array(found.dropFirst(query.offset).prefix(query.limit ?? .max))
    }

    private func matches(_ predicate: Predicate, _ fields: Fields, _ id: DocumentID) -> Bool {
        func compare(_ value: Value, _ comparison: Predicate.Comparison, _ other: Value) -> Bool {
            let isEqual = !Self.precedes(value, other) && !Self.precedes(other, value)
            if comparison == .equal { return isEqual }
            guard Self.rank(value) == Self.rank(other), [1, 2, 3, 4].contains(Self.rank(value)),
                value.double?.isNaN != true, other.double?.isNaN != true
            else { return false }
            switch comparison {
            case .equal: return isEqual
            case .less: return Self.precedes(value, other)
            case .lessOrEqual: return !Self.precedes(other, value)
            case .greater: return Self.precedes(other, value)
            case .greaterOrEqual: return !Self.precedes(value, other)
            }
        }
        switch predicate.node {
        case .compare(let path, let comparison, let operand):
            return fields[path].map { compare($0, comparison, operand.value) } ?? false
        case .hasPrefix(let path, let prefix, _):
            switch (fields[path], prefix) {
            case (.string(let text), .string(let prefix)):
                return text.utf8.starts(with: prefix.utf8)
            case (.bytes(let bytes), .bytes(let prefix)): return bytes.starts(with: prefix)
            default: return false
            }
        case .isIn(let path, let operands):
            return fields[path].map { value in
                operands.contains { compare(value, .equal, $0.value) }
            } ?? false
        case .exists(let path): return fields[path] != nil
        case .compareID(let comparison, let bytes):
            return compare(.bytes(id.bytes), comparison, .bytes(bytes))
        case .idIsIn(let ids): return ids.contains(id.bytes)
        case .and(let parts): return parts.allSatisfy { matches($0, fields, id) }
        case .or(let parts): return parts.contains { matches($0, fields, id) }
        case .not(let part): return !matches(part, fields, id)
        case .tooDeep: return false
        }
    }

    private static func rank(_ value: Value?) -> Int {
        switch value {
        case nil: -1
        case .null: 0
        case .bool: 1
        case .integer, .double: 2
        case .string: 3
        case .bytes: 4
        case .array: 5
        case .map: 6
        case .attachment: 7
        }
    }

    /// Whether a value comes before another in the order of all values.
    static func precedes(_ left: Value?, _ right: Value?) -> Bool {
        guard rank(left) == rank(right) else { return rank(left) < rank(right) }
        switch (left, right) {
        case (.bool(let left), .bool(let right)): return !left && right
        case (.integer(let left), .integer(let right)): return left < right
        case (.string(let left), .string(let right)):
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.bytes(let left), .bytes(let right)): return left.lexicographicallyPrecedes(right)
        case (.array(let left), .array(let right)):
            for (one, two) in zip(left, right) {
                if precedes(one, two) { return true }
                if precedes(two, one) { return false }
            }
            return left.count < right.count
        case (.map(let left), .map(let right)):
            let values = { (fields: Fields) in
                Value.array(fields.all.flatMap { [.string($0.name), $0.value] })
            }
            return precedes(values(left), values(right))
        default:
            guard let left, let right else { return false }
            return isLess(left, right)
        }
    }

    private static func isLess(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.double(let left), .double(let right)):
            left.isNaN ? !right.isNaN : left < right
        case (.integer(let left), .double(let right)):
            // Beyond 2^63 no whole number is.
            right.isNaN
                ? false
                : right >= 0x1p63
                    ? true
                    : right < -0x1p63
                        ? false
                        : left < Int64(right.rounded(.up))
        case (.double(let left), .integer(let right)):
            left.isNaN
                ? true
                : left >= 0x1p63
                    ? false
                    : left < -0x1p63
                        ? true
                        : Int64(left.rounded(.down)) < right
        default: false
        }
    }
}
