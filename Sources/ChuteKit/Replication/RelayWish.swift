import ChuteSystem

/// Asks the other end to fetch an attachment, which it does not have, from a device that has it.
/// It answers by `have` once there is something of it, or with the number by `absent`.
struct RelayWish: Hashable, Sendable {
    let number: UInt32
    let attachment: AttachmentID

    /// The most of a frame.
    static let limit = 512

    static func cbor(_ wishes: some Sequence<RelayWish>) -> CBOR {
        .array(
            wishes.map { wish in
                .array([
                    .unsigned(UInt64(wish.number)), .bytes(wish.attachment.digest.bytes),
                    .unsigned(wish.attachment.byteCount),
                ])
            })
    }

    static func list(cbor: CBOR) throws(WireError) -> [RelayWish] {
        guard let items = cbor.arrayValue, items.count <= limit else {
            throw .malformed("a wish to relay")
        }
        var wishes: [RelayWish] = []
        for item in items {
            guard let fields = item.arrayValue, fields.count == 3,
                let number = fields[0].uint.flatMap(UInt32.init(exactly:)),
                let attachment = AttachmentID(fields[1], fields[2])
            else { throw .malformed("a wish to relay") }
            wishes.append(RelayWish(number: number, attachment: attachment))
        }
        return wishes
    }
}
