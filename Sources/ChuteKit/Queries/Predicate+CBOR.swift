import ChuteSystem

/// How conditions look as CBOR: an array that begins with a number. See `WireProtocol`.
extension Predicate {
    /// How many conditions and values one may have that travels.
    static let countLimit = 1024

    /// Throws `invalid` where it is too deep, or has too many parts, to travel.
    func cbor() throws -> CBOR {
        try check()
        guard count <= Self.countLimit else {
            throw ChuteError(
                .invalid,
                "a condition that others are told has at most \(Self.countLimit) parts and values")
        }
        return encoded
    }

    private var encoded: CBOR {
        switch node {
        case .and(let parts): .array([.int(0)] + parts.map(\.encoded))
        case .or(let parts): .array([.int(1)] + parts.map(\.encoded))
        case .not(let part): .array([.int(2), part.encoded])
        case .compare(let path, let comparison, let operand):
            .array([.int(3), path.cbor, .int(comparison.rawValue), operand.value.cbor])
        case .hasPrefix(let path, let prefix, _): .array([.int(4), path.cbor, prefix.cbor])
        case .isIn(let path, let operands):
            .array([.int(5), path.cbor] + operands.map(\.value.cbor))
        case .exists(let path): .array([.int(6), path.cbor])
        case .compareID(let comparison, let bytes):
            .array([.int(7), .int(comparison.rawValue), .bytes(bytes)])
        case .idIsIn(let ids): .array([.int(8)] + ids.map { .bytes($0) })
        case .tooDeep: .null
        }
    }

    /// The condition of `cbor`; throws `malformed` for what this version does not know, and
    /// `tooLarge` beyond the limits.
    init(cbor: CBOR) throws(WireError) {
        try self.init(cbor: cbor, depth: 1)
        guard count <= Self.countLimit else { throw .tooLarge("a condition of too many parts") }
    }

    private init(cbor: CBOR, depth: Int) throws(WireError) {
        guard depth <= Self.depthLimit else { throw .tooLarge("conditions within each other") }
        guard case .array(let items) = cbor, case .unsigned(let code)? = items.first,
            items.count <= Self.countLimit
        else { throw .malformed("a condition") }
        let rest = items.dropFirst()
        switch (code, items.count) {
        case (0, _), (1, _):
            var parts: [Predicate] = []
            for item in rest { parts.append(try Predicate(cbor: item, depth: depth + 1)) }
            self.init(code == 0 ? .and(parts) : .or(parts))
        case (2, 2): self.init(.not(try Predicate(cbor: items[1], depth: depth + 1)))
        case (3, 4):
            self.init(
                .compare(
                    try FieldPath(cbor: items[1]), try Comparison(cbor: items[2]),
                    Operand(try Value(cbor: items[3]))))
        case (4, 3):
            let prefix = try Value(cbor: items[2])
            guard let key = OrderKey.prefix(prefix) else { throw .malformed("a prefix") }
            self.init(.hasPrefix(try FieldPath(cbor: items[1]), prefix, key: key))
        case (5, 2...):
            var values: [Value] = []
            for item in rest.dropFirst() { values.append(try Value(cbor: item)) }
            self = FieldExpression(path: try FieldPath(cbor: items[1])).isIn(values)
        case (6, 2): self.init(.exists(try FieldPath(cbor: items[1])))
        case (7, 3):
            self.init(.compareID(try Comparison(cbor: items[1]), try Self.id(items[2]).bytes))
        case (8, _):
            var ids: [DocumentID] = []
            for item in rest { ids.append(try Self.id(item)) }
            self = .id(in: ids)
        default: throw .malformed("a condition of a kind that is not known here")
        }
    }

    private static func id(_ cbor: CBOR) throws(WireError) -> DocumentID {
        guard case .bytes(let bytes) = cbor, let id = DocumentID(bytes: bytes) else {
            throw .malformed("the id of a document")
        }
        return id
    }
}

extension Predicate: Hashable {
    /// By what they say, not by what they match; texts by their bytes.
    public static func == (left: Self, right: Self) -> Bool { left.encoded == right.encoded }

    /// By what it says.
    public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}

extension Predicate.Comparison {
    fileprivate init(cbor: CBOR) throws(WireError) {
        guard let number = cbor.uint.flatMap({ Int(exactly: $0) }),
            let known = Self(rawValue: number)
        else { throw .malformed("a comparison") }
        self = known
    }
}

extension FieldPath {
    var cbor: CBOR { .array(names.map { .text($0) }) }

    /// The path of `cbor`; throws `malformed` for what is none.
    init(cbor: CBOR) throws(WireError) {
        guard case .array(let items) = cbor, (1...Self.limit).contains(items.count) else {
            throw .malformed("the path to a field")
        }
        var names: [String] = []
        for item in items {
            guard case .text(let name) = item, !name.isEmpty else {
                throw .malformed("a name in the path to a field")
            }
            names.append(name)
        }
        self.init(names)
    }
}
