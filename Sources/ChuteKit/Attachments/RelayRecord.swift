/// An attachment in the blob folder that is there for another device alone.
struct RelayRecord: LocalRow, Hashable {
    static let collection = "_relays"

    let attachment: AttachmentID
    /// By the wall clock, in seconds since 1970: when it was asked for or given last.
    var used: UInt64

    init(attachment: AttachmentID, used: UInt64) {
        self.attachment = attachment
        self.used = used
    }

    static func key(_ attachment: AttachmentID) -> [UInt8] { Array(attachment.blobName.utf8) }

    var key: [UInt8] { Self.key(attachment) }

    var fields: Fields {
        [
            "token": .attachment(AttachmentToken(id: attachment)),
            "used": .integer(Int64(clamping: used)),
        ]
    }

    init(fields: Fields) throws {
        guard let token = fields["token"]?.attachmentToken, let used = fields["used"]?.integer
        else { throw WireError.malformed("a row of relays") }
        attachment = token.id
        self.used = UInt64(clamping: used)
    }
}
