extension Predicate {
    /// Whether a document matches.
    func matches(_ fields: Fields, id: DocumentID) -> Bool {
        switch node {
        case .compare(let path, let comparison, let operand):
            return fields[path].map { operand.isMet(by: $0, comparison) } ?? false
        case .hasPrefix(let path, _, let key):
            return fields[path].map { OrderKey.of($0).starts(with: key) } ?? false
        case .isIn(let path, let operands):
            return fields[path].map { Self.contains(operands, OrderKey.of($0)) } ?? false
        case .exists(let path): return fields[path] != nil
        case .compareID(let comparison, let bytes):
            return comparison.holds(ByteOrder.compare(id.bytes, bytes))
        case .idIsIn(let ids):
            let place = ids.partitioningIndex { !$0.lexicographicallyPrecedes(id.bytes) }
            return place < ids.count && ids[place] == id.bytes
        case .and(let parts): return parts.allSatisfy { $0.matches(fields, id: id) }
        case .or(let parts): return parts.contains { $0.matches(fields, id: id) }
        case .not(let part): return !part.matches(fields, id: id)
        case .tooDeep: return false  // refused before: see `check`
        }
    }

    private static func contains(_ operands: [Operand], _ key: [UInt8]) -> Bool {
        let place = operands.partitioningIndex { !$0.key.lexicographicallyPrecedes(key) }
        return place < operands.count && operands[place].key == key
    }
}

extension Predicate.Operand {
    /// Whether `value` stands to this one as `comparison` says.
    fileprivate func isMet(by value: Value, _ comparison: Predicate.Comparison) -> Bool {
        if case .integer(let left) = value, case .integer(let right) = self.value {
            return comparison.holds(left < right ? -1 : left == right ? 0 : 1)
        }
        let other = OrderKey.of(value)
        if comparison == .equal { return other == key }
        guard other.first == key.first, isOrdered, !OrderKey.isNaN(other) else { return false }
        return comparison.holds(ByteOrder.compare(other, key))
    }

    /// Whether values of this kind come before or after each other.
    var isOrdered: Bool {
        switch value {
        case .bool, .integer, .string, .bytes: true
        case .double(let number): !number.isNaN
        case .null, .array, .map, .attachment: false
        }
    }
}

extension Predicate.Comparison {
    /// Whether it holds of two things of which the first is less (-1), equal (0) or greater (1).
    func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
