/// Where what matches can lie: for the choice of an index.
extension Predicate {
    /// What a range is of.
    enum Place: Hashable, Sendable {
        case id
        /// Of the `OrderKey` of the field.
        case field(FieldPath)
    }

    /// Ranges that everything that matches is in; what is in them need not match. `nil` where
    /// nothing is known.
    func ranges(of place: Place) -> KeyRanges? {
        switch node {
        case .compare(let path, let comparison, let operand):
            return place == .field(path) ? operand.ranges(comparison) : nil
        case .hasPrefix(let path, _, let key):
            return place == .field(path) ? KeyRanges([.prefix(key)]) : nil
        case .isIn(let path, let operands):
            return place == .field(path) ? KeyRanges(operands.map { .point($0.key) }) : nil
        case .exists(let path):
            let lower = [OrderKey.Kind.null.rawValue]
            return place == .field(path)
                ? KeyRanges([KeyRange(lower: lower, upper: KeyRange.top)]) : nil
        case .compareID(let comparison, let bytes):
            return place == .id ? KeyRanges([comparison.range(bytes)]) : nil
        case .idIsIn(let ids): return place == .id ? KeyRanges(ids.map { .point($0) }) : nil
        case .and(let parts):
            let known = parts.compactMap { $0.ranges(of: place) }
            return known.dropFirst().reduce(known.first) { $0?.intersection($1) }
        case .or(let parts):
            let known = parts.compactMap { $0.ranges(of: place) }
            guard known.count == parts.count else { return nil }
            return KeyRanges(known.flatMap(\.all))
        case .not, .tooDeep: return nil
        }
    }
}

extension Predicate.Operand {
    fileprivate func ranges(_ comparison: Predicate.Comparison) -> KeyRanges {
        guard comparison == .equal || isOrdered, let kind = key.first else { return KeyRanges([]) }
        let range = comparison.range(key)
        // Only values of the same kind are less, or greater.
        let ofKind = KeyRange(lower: [kind], upper: [kind + 1])
        return KeyRanges([range]).intersection(KeyRanges([ofKind]))
    }
}

extension Predicate.Comparison {
    fileprivate func range(_ key: [UInt8]) -> KeyRange {
        switch self {
        case .equal: .point(key)
        case .less, .lessOrEqual: KeyRange(lower: [], upper: key)
        case .greater, .greaterOrEqual: KeyRange(lower: key, upper: KeyRange.top)
        }
    }
}
