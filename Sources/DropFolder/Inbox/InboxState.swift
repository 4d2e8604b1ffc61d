/// How an inbox is looked after.
package enum InboxState: Hashable, Sendable {
    /// By events, and a scan now and then.
    case watching
    /// By scans alone, or for those folders that have no watch.
    case polling(Cause)
    /// Not at all: the folder is not there, or is another one. Nothing is taken for removed.
    case waiting(SkipReason)

    package enum Cause: Hashable, Sendable {
        /// The file system tells no events of other machines' writers.
        case remoteFileSystem
        /// A limit of inotify is used up; the text names the setting.
        case watchLimit(remedy: String)
    }
}
