/// A document as an observer keeps it: encoded, in one piece of memory, with what sorts it.
final class StoredDocument: Sendable {
    /// The key of the query's order, of which the id is the end; the origin, where there is one;
    /// the content.
    private let bytes: [UInt8]
    private let idStart: UInt32
    private let keyEnd: UInt32
    private let bodyStart: UInt32

    init(key: [UInt8], id: DocumentID, origin: [UInt8]?, body: [UInt8]) {
        var bytes = key
        bytes.reserveCapacity(key.count + (origin?.count ?? 0) + body.count)
        bytes += origin ?? []
        bodyStart = UInt32(bytes.count)
        bytes += body
        self.bytes = bytes
        keyEnd = UInt32(key.count)
        idStart = UInt32(key.count - id.bytes.count)
    }

    var key: ArraySlice<UInt8> { bytes[..<Int(keyEnd)] }
    var idBytes: ArraySlice<UInt8> { bytes[Int(idStart)..<Int(keyEnd)] }
    var originBytes: ArraySlice<UInt8> { bytes[Int(keyEnd)..<Int(bodyStart)] }
    var body: ArraySlice<UInt8> { bytes[Int(bodyStart)...] }

    var id: DocumentID {
        guard let id = DocumentID(bytes: idBytes) else {
            preconditionFailure("made of an id")
        }
        return id
    }

    /// Whether this is all the same as another, its place too.
    func isSame(as other: StoredDocument) -> Bool {
        keyEnd == other.keyEnd && bodyStart == other.bodyStart && bytes == other.bytes
    }

    /// Whether it is as it was, wherever it comes.
    func hasContent(of other: StoredDocument) -> Bool {
        originBytes == other.originBytes && body == other.body
    }

    /// Below 0 where it comes before a key, 0 where it has it, above 0 where it comes after it.
    func compare(_ key: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { own in
            key.withUnsafeBytes {
                ByteOrder.compare(UnsafeRawBufferPointer(rebasing: own[..<Int(keyEnd)]), $0)
            }
        }
    }
}
