import ChuteSystem

/// What one device has done with one version of a document.
public struct Receipt: Hashable, Sendable {
    /// How it went.
    public enum State: Hashable, Sendable {
        /// Published on that device's disk, byte for byte. Never taken back.
        case delivered
        /// Not taken, and why.
        case refused(reason: String)
        /// That device does not take this collection.
        case notWanted
    }

    /// The collection of the document.
    public let collection: String
    /// The document.
    public let document: DocumentID
    /// The version: the hash of the change that made it.
    public let version: Digest
    /// How it went.
    public let state: State
    /// Whether the user of that device removed it since.
    public let isRemoved: Bool

    /// A receipt for one version of a document.
    public init(
        collection: String, document: DocumentID, version: Digest, state: State,
        isRemoved: Bool = false
    ) {
        self.collection = collection
        self.document = document
        self.version = version
        self.state = state
        self.isRemoved = isRemoved
    }

    static let replicatedCollection = "_receipts"

    /// Which document of `_receipts` this receipt is, before its author is known.
    var seed: Digest {
        Digest(
            hashing: CBOR.array([
                .text("chute receipt 1"), .text(collection), .bytes(document.bytes),
                .bytes(version.bytes),
            ]).encoded())
    }

    var cbor: CBOR {
        let code: UInt64
        var reason: String?
        switch state {
        case .delivered: code = 0
        case .refused(let why): (code, reason) = (1, why)
        case .notWanted: code = 2
        }
        var entries: [Int: CBOR] = [
            0: .text(collection), 1: .bytes(document.bytes), 2: .bytes(version.bytes),
            3: .unsigned(code),
        ]
        if let reason { entries[4] = .text(reason) }
        if isRemoved { entries[5] = .bool(true) }
        return .map(entries)
    }

    init?(cbor: CBOR?) {
        guard let cbor, let collection = cbor[0]?.textValue,
            let document = cbor[1]?.bytesValue.flatMap(DocumentID.init(bytes:)),
            let version = cbor[2]?.bytesValue.flatMap(Digest.init(bytes:)),
            let code = cbor[3]?.uint
        else { return nil }
        let state: State
        switch code {
        case 0: state = .delivered
        case 1: state = .refused(reason: cbor[4]?.textValue ?? "unknown")
        case 2: state = .notWanted
        default: return nil
        }
        self.init(
            collection: collection, document: document, version: version, state: state,
            isRemoved: cbor[5] == .bool(true))
    }
}
