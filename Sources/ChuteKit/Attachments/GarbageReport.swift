/// What garbage collection removed, or would remove.
public struct GarbageReport: Hashable, Sendable {
    /// The attachments of this device alone that no document names, nobody pinned or wants, and
    /// whose grace is over.
    public internal(set) var attachments: [AttachmentID] = []
    /// Their bytes.
    public internal(set) var byteCount: UInt64 = 0
    /// Parts of attachments that were fetched and given up, or that no document names any more.
    public internal(set) var partialCount = 0
    /// Rows about pieces and signatures that nothing is about any more; 0 for a dry run.
    public internal(set) var rowCount = 0
}
