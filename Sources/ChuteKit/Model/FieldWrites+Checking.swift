/// What an application may write; checked before anything is.
extension FieldWrites.Write {
    /// Throws `invalid` for what no device would take.
    func check() throws(ChuteError) {
        guard let first = path.names.first, path.names.count <= FieldPath.limit else {
            throw ChuteError(.invalid, "a path has 1 to \(FieldPath.limit) names")
        }
        guard first.utf8.first != UInt8(ascii: "_") else {
            throw ChuteError(
                .invalid, "fields that begin with an underscore are reserved: \(path)")
        }
        guard path.names.allSatisfy({ !$0.isEmpty }) else {
            throw ChuteError(.invalid, "a field has an empty name: \(path)")
        }
        guard isShallow else {
            throw ChuteError(
                .invalid, "\(path) has over \(Value.depthLimit) maps and arrays within each other")
        }
        try value?.check(at: path)
    }

    /// Whether the document that it is written into can be read back: see `Value.depthLimit`.
    var isShallow: Bool { value?.isShallow(at: path.names.count) ?? true }
}

extension Fields.Field {
    /// Throws `invalid` for what no device would take in a document.
    func check() throws(ChuteError) {
        try FieldWrites.Write(path: FieldPath([name]), value: value).check()
    }
}

extension Value {
    /// How deep a value may be in a document: the names on the way to it, and the maps and arrays
    /// within it. Below what decoding takes.
    static let depthLimit = 24

    fileprivate func isShallow(at depth: Int) -> Bool {
        guard depth <= Self.depthLimit else { return false }
        return switch self {
        case .array(let values): values.allSatisfy { $0.isShallow(at: depth + 1) }
        case .map(let fields): fields.all.allSatisfy { $0.value.isShallow(at: depth + 1) }
        case .null, .bool, .integer, .double, .string, .bytes, .attachment: true
        }
    }

    fileprivate func check(at path: FieldPath) throws(ChuteError) {
        switch self {
        case .null, .bool, .integer, .double, .string, .bytes: break
        case .array(let values):
            for value in values { try value.check(at: path) }
        case .map(let fields):
            for field in fields.all {
                guard !field.name.isEmpty else {
                    throw ChuteError(.invalid, "a field has an empty name, in \(path)")
                }
                try field.value.check(at: path)
            }
        case .attachment(let token): try token.check(at: path)
        }
    }
}

extension AttachmentToken {
    fileprivate func check(at path: FieldPath) throws(ChuteError) {
        let size = metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard size <= Self.metadataLimit else {
            throw ChuteError(.invalid, "the attachment at \(path) has metadata over 64 KiB")
        }
        guard len > 0 || id.digest.bytes == PieceTree.emptyID else {
            throw ChuteError(.invalid, "no empty attachment has the id of the one at \(path)")
        }
    }
}
