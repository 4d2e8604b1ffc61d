import ChuteSystem

/// As a map of hexadecimal digits, count and metadata in formats other than documents, such as
/// JSON; `ValueEncoder` keeps it a token.
extension AttachmentToken: Codable {
    private enum CodingKeys: CodingKey { case id, len, metadata }

    /// Throws `DecodingError` for what names no attachment.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let text = try container.decode(String.self, forKey: .id)
        let count = try container.decode(UInt64.self, forKey: .len)
        guard let digest = Hexadecimal.bytes(text).flatMap({ Digest(bytes: $0) }),
            let id = AttachmentID(digest: digest, byteCount: count)
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .id, in: container,
                debugDescription: "64 hexadecimal digits and a count of at most 2^53 bytes")
        }
        self.init(id: id, metadata: try container.decode([String: String].self, forKey: .metadata))
    }

    /// Encodes a map of `id`, `len` and `metadata`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id.digest.hex, forKey: .id)
        try container.encode(len, forKey: .len)
        try container.encode(metadata, forKey: .metadata)
    }
}

/// A value within a type of your own, whatever it is. Other formats than documents know no tokens
/// and no bytes.
extension Value: Codable {
    /// Reads a value from any format; throws `DecodingError` for what is none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // What it is is found out by asking for one kind after the other.
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .double(number)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let token = try? container.decode(AttachmentToken.self) {
            self = .attachment(token)
        } else if let values = try? container.decode([Value].self) {
            self = .array(values)
        } else {
            let fields = try container.decode([String: Value].self)
            self = .map(fields.reduce(into: Fields()) { $0[$1.key] = $1.value })
        }
    }

    /// Writes a value into any format; bytes as an array of numbers.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .bytes(let bytes): try container.encode(bytes)
        case .array(let values): try container.encode(values)
        case .map(let fields):
            try container.encode(
                Dictionary(fields.all.map { ($0.name, $0.value) }) { _, later in later })
        case .attachment(let token): try container.encode(token)
        }
    }
}
