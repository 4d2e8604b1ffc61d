/// How the bytes of a file are taken in.
public enum AttachmentImportMode: Hashable, Sendable {
    /// Copied; the file stays as it is.
    case copy
    /// Shared with the file where the file system can (btrfs, xfs), else copied. The file can be
    /// changed afterwards: that changes the file alone.
    case reflink
    /// Taken in, and then the file is removed: only once its bytes are durable here, and only
    /// while it still is what was read.
    ///
    /// Until a document has named these bytes, garbage collection leaves them alone.
    case move
}
