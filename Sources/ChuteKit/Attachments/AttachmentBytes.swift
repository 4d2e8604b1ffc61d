/// The bytes of an attachment in their order, in chunks of at most a mebibyte.
///
/// A chunk is read when it is asked for: memory does not depend on the size. Throws `absent`
/// where the bytes are not on this device any more, and `CancellationError`.
public struct AttachmentBytes: AsyncSequence, Sendable {
    /// A chunk; never empty.
    public typealias Element = [UInt8]

    let attachment: AttachmentID
    let reader: BlobReader

    /// Reads from the first byte on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(cursor: AttachmentCursor(attachment, reader: reader))
    }

    /// One reading.
    public struct Iterator: AsyncIteratorProtocol {
        var cursor: AttachmentCursor

        /// The next chunk; `nil` at the end.
        public mutating func next() async throws -> [UInt8]? {
            try Task.checkCancellation()
            return try await cursor.next()
        }
    }
}
