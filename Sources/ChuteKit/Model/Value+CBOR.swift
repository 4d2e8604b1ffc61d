import ChuteSystem

/// How values look as CBOR: as themselves, but a token as a map of one empty name,
/// `{"": [1, digest, count, {metadata}]}`, which no map of a document may have.
extension Value {
    var cbor: CBOR {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .integer(let number): .int(number)
        case .double(let number): .double(number)
        case .string(let text): .text(text)
        case .bytes(let bytes): .bytes(bytes)
        case .array(let values): .array(values.map(\.cbor))
        case .map(let fields): fields.cbor
        case .attachment(let token):
            .map([
                .init(
                    key: .text(""),
                    value: .array([
                        .unsigned(1), .bytes(token.id.digest.bytes),
                        .unsigned(token.id.byteCount),
                        .map(
                            token.metadata.map { .init(key: .text($0.key), value: .text($0.value)) }
                        ),
                    ]))
            ])
        }
    }

    /// The value of `cbor`; throws `malformed` for a kind of value that documents do not have.
    init(cbor: CBOR) throws(WireError) {
        switch cbor {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .double(let number): self = .double(number)
        case .text(let text): self = .string(text)
        case .bytes(let bytes): self = .bytes(bytes)
        case .unsigned, .negative:
            guard let number = cbor.int else { throw .malformed("a number beyond 64 bits") }
            self = .integer(number)
        case .array(let items):
            var values: [Value] = []
            values.reserveCapacity(items.count)
            for item in items { values.append(try Value(cbor: item)) }
            self = .array(values)
        case .map(let entries):
            if entries.count == 1, case .text("") = entries[0].key {
                self = .attachment(try AttachmentToken(cbor: entries[0].value))
            } else {
                self = .map(try Fields(cbor: cbor))
            }
        }
    }
}

extension CBOR.Limits {
    /// For documents as they are kept: what came together of several changes, each within the
    /// usual limits, can be deeper and have more in it than any of them.
    static let document = CBOR.Limits(itemCount: .max, depth: 64)
}

extension Fields {
    var cbor: CBOR { .map(all.map { .init(key: .text($0.name), value: $0.value.cbor) }) }

    init(cbor: CBOR) throws(WireError) {
        guard case .map(let entries) = cbor else { throw .malformed("fields are a map") }
        var fields: [Field] = []
        fields.reserveCapacity(entries.count)
        for entry in entries {
            guard case .text(let name) = entry.key, !name.isEmpty else {
                throw .malformed("a field's name is text, and not empty")
            }
            fields.append(Field(name: name, value: try Value(cbor: entry.value)))
        }
        self.init(distinct: fields)
    }
}

extension AttachmentToken {
    fileprivate init(cbor: CBOR) throws(WireError) {
        guard case .array(let parts) = cbor, parts.count >= 4, parts[0] == .unsigned(1),
            case .bytes(let bytes) = parts[1], let digest = Digest(bytes: bytes),
            case .unsigned(let count) = parts[2],
            let id = AttachmentID(digest: digest, byteCount: count),
            // No bytes have one name only: under another one they would be waited for for ever.
            count > 0 || bytes == PieceTree.emptyID,
            case .map(let entries) = parts[3]
        else { throw .malformed("an attachment token") }
        var metadata: [String: String] = [:]
        var total = 0
        for entry in entries {
            guard case .text(let name) = entry.key, case .text(let text) = entry.value else {
                throw .malformed("metadata is text by name")
            }
            total += name.utf8.count + text.utf8.count
            metadata[name] = text
        }
        guard total <= Self.metadataLimit else { throw .malformed("metadata over 64 KiB") }
        self.init(id: id, metadata: metadata)
    }
}
