import ChuteSystem

/// Asks whether these attachments lie whole in a kept folder of the other end.
struct Confirm: Hashable, Sendable {
    let number: UInt32
    let attachments: [AttachmentID]

    /// The most attachments of a question.
    static let limit = 1024

    init(number: UInt32, attachments: [AttachmentID]) {
        self.number = number
        self.attachments = attachments
    }

    var cbor: CBOR {
        .map([
            0: .unsigned(UInt64(number)),
            1: .array(
                attachments.map { .array([.bytes($0.digest.bytes), .unsigned($0.byteCount)]) }),
        ])
    }

    init(cbor: CBOR) throws(WireError) {
        guard let number = cbor[0]?.uint.flatMap(UInt32.init(exactly:)),
            let items = cbor[1]?.arrayValue, items.count <= Self.limit
        else { throw .malformed("a question") }
        self.number = number
        var attachments: [AttachmentID] = []
        for item in items {
            guard let fields = item.arrayValue, fields.count == 2,
                let attachment = AttachmentID(fields[0], fields[1])
            else { throw .malformed("a question") }
            attachments.append(attachment)
        }
        self.attachments = attachments
    }
}

/// The answer to a `Confirm`: one word for each attachment, in its order.
struct Confirmed: Hashable, Sendable {
    let number: UInt32
    let words: [Bool]

    init(number: UInt32, words: [Bool]) {
        self.number = number
        self.words = words
    }

    var cbor: CBOR {
        .map([0: .unsigned(UInt64(number)), 1: .array(words.map { .bool($0) })])
    }

    init(cbor: CBOR) throws(WireError) {
        guard let number = cbor[0]?.uint.flatMap(UInt32.init(exactly:)),
            let items = cbor[1]?.arrayValue, items.count <= Confirm.limit
        else { throw .malformed("an answer") }
        self.number = number
        words = items.map { $0 == .bool(true) }
    }
}
