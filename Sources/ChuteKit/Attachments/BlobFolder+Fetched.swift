import ChuteSystem
import Glibc

/// Bytes that were fetched.
extension BlobFolder {
    /// Where an attachment is fetched to, below the folder.
    static func stagedPath(of attachment: AttachmentID) -> BytePath {
        staging.appending(attachment.blobName)
    }

    /// Takes in the staged file of an attachment that was fetched: all its bytes are there, were
    /// hashed, and are not synced. Durable when this returns; its wants are over. `isRelay`: for
    /// other devices alone.
    func adopt(
        _ attachment: AttachmentID, layer: [UInt8], isRelay: Bool = false
    ) async throws {
        let staged = Self.stagedPath(of: attachment)
        do throws(SystemError) {
            let file = try folder.open(staged, O_RDWR | O_NONBLOCK)
            guard try file.status().size == attachment.byteCount else {
                throw SystemError(code: EIO, call: "statx", path: staged)
            }
            try file.syncData()
        } catch {
            // Bytes that a failed sync lost would look as if they were there.
            discardStaged(attachment)
            throw ChuteError(error, "what was fetched of \(attachment) cannot be kept")
        }
        try await publish(staged, attachment, layer: layer, isRelay: isRelay)
        discardStaged(attachment)
    }

    /// Removes what was fetched of an attachment; nothing where nothing was.
    func discardStaged(_ attachment: AttachmentID) {
        do throws(SystemError) { try folder.remove(Self.stagedPath(of: attachment)) } catch {
            diagnostics.warning("a staged attachment stays for now: \(error)")
        }
    }
}
