/// What an engine takes on disk, in bytes that are allocated.
public struct DiskUsage: Hashable, Sendable {
    /// The database, without what waits to be put into it.
    public internal(set) var database: UInt64 = 0
    /// What waits to be put into the database.
    public internal(set) var writeAheadLog: UInt64 = 0
    /// Attachments of the engine's own. Those that lie in users' files are not counted.
    public internal(set) var attachments: UInt64 = 0
    /// Attachments that are being taken in or fetched.
    public internal(set) var staging: UInt64 = 0
    /// Attachments that verification set aside.
    public internal(set) var damaged: UInt64 = 0
    /// All else in the directory: keys, temporary files.
    public internal(set) var other: UInt64 = 0

    /// All of it.
    public var total: UInt64 {
        database + writeAheadLog + attachments + staging + damaged + other
    }
}
