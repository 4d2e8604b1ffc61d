import ChuteKit

/// A row of the database that is not what its type says.
struct RowError: Error, CustomStringConvertible {
    let description: String
}

extension Fields {
    /// The required parts of a row; throws `RowError` where one is missing.
    func need<Part>(_ name: String, _ part: (Value) -> Part?) throws -> Part {
        guard let value = self[name], let found = part(value) else {
            throw RowError(description: "a row without \(name)")
        }
        return found
    }

    func bytes(_ name: String) throws -> [UInt8] { try need(name) { $0.bytes } }
    func integer(_ name: String) throws -> Int64 { try need(name) { $0.integer } }
    func string(_ name: String) throws -> String { try need(name) { $0.string } }
    func path(_ name: String) throws -> BytePath { BytePath(bytes: try bytes(name)) }

    func attachment(_ name: String) throws -> AttachmentID {
        try need(name) { $0.attachmentToken?.id }
    }

    func document(_ name: String) throws -> DocumentID {
        try need(name) { $0.bytes.flatMap(DocumentID.init(bytes:)) }
    }

    func digest(_ name: String) throws -> Digest {
        try need(name) { $0.bytes.flatMap(Digest.init(bytes:)) }
    }
}

extension Value {
    static func path(_ path: BytePath) -> Value { .bytes(path.bytes) }
    static func attachment(_ id: AttachmentID) -> Value { .attachment(AttachmentToken(id: id)) }
    static func document(_ id: DocumentID) -> Value { .bytes(id.bytes) }
    static func optional(_ value: Value?) -> Value { value ?? .null }
}

/// The key of a row about a path in a folder: the folder's number, then the path's bytes.
func folderKey(_ root: Int64, _ path: BytePath = "") -> [UInt8] {
    withUnsafeBytes(of: root.bigEndian, Array.init) + path.bytes
}
