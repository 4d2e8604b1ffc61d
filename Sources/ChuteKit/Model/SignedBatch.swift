import ChuteSystem

/// Up to 256 changes of one author, signed together over the list of their hashes.
///
/// Header and signature travel with any change that is left of the batch. A hash without its
/// change is normal: that one was superseded, or is not for this peer.
struct SignedBatch: Hashable, Sendable {
    let space: SpaceID
    /// The author's public key (DER SubjectPublicKeyInfo); the author's id is its hash.
    let publicKey: [UInt8]
    let author: DeviceID
    let hashes: Set<Digest>
    let header: [UInt8]
    let signature: [UInt8]

    static let limit = 256
    private static let context = Array("chute batch 1\0".utf8)

    private enum Key { static let space = 0, publicKey = 1, hashes = 2 }

    /// What tells it from all others.
    var hash: Digest { Digest(hashing: header, signature) }

    /// Signs `changes`, all of the holder of `key`. At most 256.
    init(signing changes: [Digest], in space: SpaceID, with key: DeviceKey) {
        precondition(changes.count <= Self.limit)
        self.space = space
        publicKey = key.spki
        author = DeviceID(publicKey: key.spki)
        hashes = Set(changes)
        header = CBOR.map([
            Key.space: .bytes(space.digest.bytes), Key.publicKey: .bytes(key.spki),
            Key.hashes: .bytes(changes.flatMap(\.bytes)),
        ]).encoded()
        signature = key.sign(Self.context + header)
    }

    /// Reads a batch and checks its signature. Says nothing about membership.
    init(header: [UInt8], signature: [UInt8]) throws(WireError) {
        guard header.count <= 16 << 10, signature.count <= 512 else {
            throw .tooLarge("a batch header")
        }
        let cbor: CBOR
        do throws(CBORError) { cbor = try CBOR.decode(header) } catch {
            throw .malformed("a batch header: \(error)")
        }
        guard let space = cbor[Key.space]?.bytesValue.flatMap(SpaceID.init(bytes:)),
            let publicKey = cbor[Key.publicKey]?.bytesValue,
            let list = cbor[Key.hashes]?.bytesValue,
            list.count.isMultiple(of: Digest.byteCount),
            list.count <= Self.limit * Digest.byteCount
        else { throw .malformed("a batch header without its parts") }
        guard
            DeviceKey.verify(
                signature: signature, message: Self.context + header, spki: publicKey)
        else { throw .badSignature }
        self.space = space
        self.publicKey = publicKey
        author = DeviceID(publicKey: publicKey)
        var hashes: Set<Digest> = []
        for start in stride(from: 0, to: list.count, by: Digest.byteCount) {
            if let hash = Digest(bytes: list[start..<(start + Digest.byteCount)]) {
                hashes.insert(hash)
            }
        }
        self.hashes = hashes
        self.header = header
        self.signature = signature
    }
}
