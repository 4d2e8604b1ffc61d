/// What a document must be like: a condition on its fields and its id.
///
/// Made by `field("age") >= 18 && field("name").hasPrefix("A")`, and of `id(_:)`, `all`. A field
/// that is not there matches no comparison, nor does a value of another kind: numbers are compared
/// with numbers, texts (by their UTF-8 bytes) with texts. Conditions that are more than 16 within
/// each other are refused by whatever is asked to use them, with `invalid`.
public struct Predicate: Sendable {
    enum Comparison: Int, Sendable, CaseIterable {
        case equal, less, lessOrEqual, greater, greaterOrEqual
    }

    /// A value, and its place in the order of all values.
    struct Operand: Sendable {
        let value: Value
        let key: [UInt8]

        init(_ value: Value) {
            self.value = value
            key = OrderKey.of(value)
        }
    }

    indirect enum Node: Sendable {
        case compare(FieldPath, Comparison, Operand)
        /// With what the keys of all matching values begin with.
        case hasPrefix(FieldPath, Value, key: [UInt8])
        /// In the order of the keys, none twice.
        case isIn(FieldPath, [Operand])
        case exists(FieldPath)
        case compareID(Comparison, [UInt8])
        /// In order, none twice.
        case idIsIn([[UInt8]])
        case and([Predicate])
        case or([Predicate])
        case not(Predicate)
        /// Deeper than anything may be: what it was is gone.
        case tooDeep
    }

    /// How many conditions may be within each other.
    static let depthLimit = 16

    let node: Node
    /// How many conditions are within each other: 1 for a comparison.
    let depth: Int
    /// The conditions, and the values that they name, all together.
    let count: Int

    init(_ node: Node) {
        var depth = 1
        var count = 1
        switch node {
        case .compare, .hasPrefix, .exists, .compareID: break
        case .isIn(_, let values): count += values.count
        case .idIsIn(let ids): count += ids.count
        case .and(let parts), .or(let parts):
            depth += parts.map(\.depth).max() ?? 0
            count += parts.reduce(0) { $0 + $1.count }
        case .not(let part):
            depth += part.depth
            count += part.count
        case .tooDeep: depth = Self.depthLimit + 1
        }
        // Nothing that recurses ever meets more than this.
        self.node = depth > Self.depthLimit ? .tooDeep : node
        self.depth = min(depth, Self.depthLimit + 1)
        self.count = count
    }

    /// Every document.
    public static let all = Predicate(.and([]))

    /// The document of this id.
    public static func id(_ id: DocumentID) -> Predicate { Predicate(.compareID(.equal, id.bytes)) }

    /// The documents of these ids.
    public static func id(in ids: some Sequence<DocumentID>) -> Predicate {
        let sorted = ids.sorted()
        let distinct = sorted.enumerated().filter { $0 == 0 || sorted[$0 - 1] != $1 }
        return Predicate(.idIsIn(distinct.map(\.element.bytes)))
    }

    /// The documents whose id comes after `id`, in the order of the bytes.
    public static func id(after id: DocumentID) -> Predicate {
        Predicate(.compareID(.greater, id.bytes))
    }

    /// The documents whose id comes before `id`, in the order of the bytes.
    public static func id(before id: DocumentID) -> Predicate {
        Predicate(.compareID(.less, id.bytes))
    }

    /// What matches both.
    public static func && (left: Predicate, right: Predicate) -> Predicate {
        if left.isAll { return right }
        if right.isAll { return left }
        return Predicate(.and(left.conjuncts + right.conjuncts))
    }

    /// What matches one of the two, or both.
    public static func || (left: Predicate, right: Predicate) -> Predicate {
        Predicate(.or(left.disjuncts + right.disjuncts))
    }

    /// What does not match.
    public static prefix func ! (predicate: Predicate) -> Predicate {
        if case .not(let inner) = predicate.node { return inner }
        return Predicate(.not(predicate))
    }

    /// Whether every document matches, as far as can be seen at once.
    var isAll: Bool {
        if case .and(let parts) = node { parts.isEmpty } else { false }
    }

    private var conjuncts: [Predicate] {
        if case .and(let parts) = node { parts } else { [self] }
    }

    private var disjuncts: [Predicate] {
        if case .or(let parts) = node { parts } else { [self] }
    }

    /// Throws `invalid` where it is too deep to be looked through.
    func check() throws {
        guard depth <= Self.depthLimit else {
            throw ChuteError(
                .invalid,
                "a condition has more than \(Self.depthLimit) others within each other: write it "
                    + "flatter")
        }
    }
}
