import ChuteSystem

/// A file that has the bytes of an attachment, opened for reading.
final class OpenBlob: Sendable {
    let attachment: AttachmentID
    let location: Location
    let file: FileDescriptor
    /// The hashes of the pieces; empty for a single one.
    let layer: [UInt8]
    /// It is the agent's own and as it was when it was hashed: its bytes are read as they are.
    let isTrusted: Bool

    init(
        _ attachment: AttachmentID, at location: Location, file: consuming FileDescriptor,
        layer: [UInt8], isTrusted: Bool
    ) {
        self.attachment = attachment
        self.location = location
        self.file = file
        self.layer = layer
        self.isTrusted = isTrusted
    }
}
