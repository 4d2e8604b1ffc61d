import ChuteSystem

/// What a change of kind `fields` says: single fields of a document that anybody may write.
///
/// As CBOR `{0: true}` where it also brings the document into being, `1: {name: value}` for
/// fields of the document itself, `2: [[[name], value]]` for those further down, an entry
/// without a value removes. They count one after the other, those under `1` first.
struct FieldWrites: Hashable, Sendable {
    /// One field that is written.
    struct Write: Hashable, Sendable {
        let path: FieldPath
        /// `nil` removes the field.
        let value: Value?
    }

    /// Whether it brings the document into being, or back after it was removed.
    let isInsert: Bool
    let writes: [Write]

    private enum Key { static let insert = 0, fields = 1, paths = 2 }

    init(isInsert: Bool, writes: [Write]) {
        self.isInsert = isInsert
        self.writes = writes
    }

    /// The fields of a document that is made.
    init(inserting fields: Fields) {
        isInsert = true
        writes = fields.all.map { Write(path: FieldPath([$0.name]), value: $0.value) }
    }

    var cbor: CBOR {
        // Those of the document itself go first only where no later one overtakes an earlier.
        let first = writes.prefix { $0.path.names.count == 1 && $0.value != nil }
        let rest = writes.dropFirst(first.count)
        var own = Fields()
        for write in first { own[write.path.names[0]] = write.value }
        var entries: [CBOR.Entry] = []
        if isInsert { entries.append(.init(key: .int(Key.insert), value: .bool(true))) }
        if !own.all.isEmpty { entries.append(.init(key: .int(Key.fields), value: own.cbor)) }
        if !rest.isEmpty {
            entries.append(.init(key: .int(Key.paths), value: .array(rest.map(Self.cbor))))
        }
        return .map(entries)
    }

    /// The body of the change that makes a document of these fields.
    static func cbor(inserting fields: CBOR) -> CBOR {
        var entries = [CBOR.Entry(key: .int(Key.insert), value: .bool(true))]
        if fields != .map([]) { entries.append(.init(key: .int(Key.fields), value: fields)) }
        return .map(entries)
    }

    private static func cbor(_ write: Write) -> CBOR {
        let names = CBOR.array(write.path.names.map { .text($0) })
        return .array([names] + (write.value.map { [$0.cbor] } ?? []))
    }

    /// Throws `malformed` for what no version of this writes.
    init(cbor: CBOR?) throws(WireError) {
        guard let cbor, case .map = cbor else { throw .malformed("written fields") }
        isInsert = cbor[Key.insert] == .bool(true)
        var writes: [Write] = []
        if let own = cbor[Key.fields] {
            for field in try Fields(cbor: own).all {
                writes.append(Write(path: FieldPath([field.name]), value: field.value))
            }
        }
        for entry in cbor[Key.paths]?.arrayValue ?? [] {
            guard let parts = entry.arrayValue, (1...2).contains(parts.count),
                let names = parts[0].arrayValue?.map(\.textValue),
                (1...FieldPath.limit).contains(names.count),
                names.allSatisfy({ $0.map { !$0.isEmpty } ?? false })
            else { throw .malformed("the path of a written field") }
            let value = parts.count == 2 ? try Value(cbor: parts[1]) : nil
            writes.append(Write(path: FieldPath(names.compactMap(\.self)), value: value))
        }
        // Else the document would be kept, and never be read again.
        guard writes.allSatisfy(\.isShallow) else { throw .malformed("values that are too deep") }
        self.writes = writes
    }
}
