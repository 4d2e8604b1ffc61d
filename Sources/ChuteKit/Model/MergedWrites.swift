/// The content that some writes make together: in a time that hardly grows faster than their number,
/// which whoever writes them chooses.
///
/// No two are at one path, and of two of which one is further down the other's path that one
/// counts later: in which order all others count makes no difference.
struct MergedWrites {
    /// A write, and the bytes of the names of its path.
    struct Write {
        let key: [[UInt8]]
        let write: FieldWrites.Write
    }

    private let writes: [Write]

    init(_ writes: [Write]) {
        // Each comes right before those further down its path.
        self.writes = writes.sorted {
            $0.key.lexicographicallyPrecedes($1.key) { $0.lexicographicallyPrecedes($1) }
        }
    }

    /// What they make of nothing.
    var fields: Fields { fields(writes[...], depth: 0, over: Fields()) }

    /// What writes that go through one place make of the map there.
    private func fields(_ writes: ArraySlice<Write>, depth: Int, over base: Fields) -> Fields {
        var result: [Fields.Field] = []
        result.reserveCapacity(writes.count)
        var kept = base.all[...]
        var rest = writes
        while let first = rest.first {
            let name = first.key[depth]
            let end = rest.firstIndex { $0.key[depth] != name } ?? rest.endIndex
            let group = rest[..<end]
            rest = rest[end...]
            while let field = kept.first, field.name.utf8.lexicographicallyPrecedes(name) {
                result.append(field)
                kept.removeFirst()
            }
            var value: Value?
            if let field = kept.first, field.name.utf8.elementsEqual(name) {
                value = field.value
                kept.removeFirst()
            }
            if let value = self.value(group, depth: depth + 1, over: value) {
                result.append(.init(name: first.write.path.names[depth], value: value))
            }
        }
        return Fields(distinct: result + kept)
    }

    /// What writes at one place and further down make of what is there.
    private func value(_ writes: ArraySlice<Write>, depth: Int, over base: Value?) -> Value? {
        var rest = writes
        var value = base
        if let first = rest.first, first.key.count == depth {
            value = first.write.value
            rest.removeFirst()
        }
        if rest.isEmpty { return value }
        return .map(fields(rest, depth: depth, over: value?.map ?? Fields()))
    }
}
