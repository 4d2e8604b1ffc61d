import ChuteSystem

/// Attachments for documents of this collection. Anyone may call these, also while nothing is
/// shared; each is durable when it returns.
extension DocumentCollection {
    /// Takes in a file: the attachment is to be put into a document.
    ///
    /// Bytes that are here already take no space again. Throws `notFound`, `permission`,
    /// `notRegularFile` (a link, too), `noSpace`, `overQuota`, `changing` where the file is being
    /// written, `tooLarge` for metadata of over 64 KiB, `invalid`, `closed`, or
    /// `CancellationError`; then nothing was taken in, and the file is as it was. With `.move`
    /// the bytes can be here although the file could not be removed (`changing`, `permission`).
    public func newAttachment(
        path: BytePath, metadata: [String: String] = [:], mode: AttachmentImportMode = .copy
    ) async throws -> Attachment {
        let attachments = try check(metadata)
        return attachments.attachment(
            try await attachments.blobs.take(path, mode: mode), metadata)
    }

    /// Takes in bytes. Throws `noSpace`, `overQuota`, `tooLarge` for metadata of over 64 KiB,
    /// `invalid` or `closed`.
    public func newAttachment(
        bytes: [UInt8], metadata: [String: String] = [:]
    ) async throws -> Attachment {
        let attachments = try check(metadata)
        return attachments.attachment(
            try await attachments.blobs.take(bytes), metadata)
    }

    /// Takes in bytes as they come, in chunks of any size: the next is asked for when the last
    /// one is written.
    ///
    /// Throws what the sequence throws, `noSpace`, `overQuota`, `tooLarge` for metadata of over
    /// 64 KiB, `invalid`, `closed`, or `CancellationError`; then nothing was taken in.
    public func newAttachment<Chunks: AsyncSequence>(
        stream: Chunks, metadata: [String: String] = [:]
    ) async throws -> Attachment where Chunks.Element == [UInt8] {
        let attachments = try check(metadata)
        return attachments.attachment(
            try await attachments.blobs.take(stream), metadata)
    }

    /// Before any byte is read: what would be refused at the end.
    private func check(_ metadata: [String: String]) throws -> AttachmentStore {
        try checkName()
        let attachments = try store.attachments
        let count = metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard count <= AttachmentToken.metadataLimit else {
            throw ChuteError(
                .tooLarge,
                "metadata of \(count) bytes: an attachment takes at most "
                    + "\(AttachmentToken.metadataLimit); put more into fields of the document")
        }
        return attachments
    }
}
