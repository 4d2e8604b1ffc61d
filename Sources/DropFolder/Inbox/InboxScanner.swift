package import ChuteSystem
import Glibc

/// Walks an inbox and gives out what lies there, a batch at a time.
///
/// Follows no link, opens nothing but folders, and holds the names of one folder at a time and
/// the paths of the folders still to come. Blocks.
package struct InboxScanner: Sendable {
    /// One name that was found.
    package enum Entry: Hashable, Sendable {
        /// A regular file that may be shared.
        case file(BytePath, FileStatus)
        /// Something that is not shared.
        case skipped(BytePath, SkipReason)
        /// A folder whose content could not be seen: nothing may be concluded from what is
        /// missing below it.
        case unread(BytePath, SkipReason)
    }

    private let root: InboxRoot
    private let filter: InboxFilter
    private var folders: [BytePath]
    private var current: BytePath = ""
    private var names: ArraySlice<Folder.Entry> = []
    private var open: InboxRoot?

    /// Starts at `path` below the root.
    package init(_ root: InboxRoot, from path: BytePath = "", filter: InboxFilter) {
        self.root = root
        self.filter = filter
        folders = [path]
    }

    /// Up to `limit` entries more, fewer only before the end; `nil` at the end.
    ///
    /// `willRead` is called with each folder before its names are read: whoever wants to miss
    /// nothing starts to watch it there.
    package mutating func next(
        limit: Int, willRead: (BytePath, borrowing Folder) -> Void = { _, _ in }
    ) -> [Entry]? {
        var found: [Entry] = []
        while found.count < limit {
            if let name = names.popFirst() {
                if let entry = look(at: name) { found.append(entry) }
            } else if let path = folders.popLast() {
                if let failure = enter(path, willRead) { found.append(failure) }
            } else {
                open = nil
                return found.isEmpty ? nil : found
            }
        }
        return found
    }

    private mutating func enter(
        _ path: BytePath, _ willRead: (BytePath, borrowing Folder) -> Void
    ) -> Entry? {
        do throws(SystemError) {
            let folder = try root.folder.folder(at: path)
            willRead(path, folder)
            names = try folder.entries()[...]
            open = try InboxRoot(folder)
            current = path
            return nil
        } catch {
            names = []
            // Removed meanwhile, or a link by now: nothing is there to be read.
            if error.isNotFound || error.code == ELOOP, !path.isEmpty { return nil }
            return .unread(path, error.code == ENAMETOOLONG ? .nameRefused : .unreadable)
        }
    }

    private mutating func look(at entry: Folder.Entry) -> Entry? {
        let path = current.appending(entry.name)
        var kind = entry.kind
        // Names that are left out by themselves cost no system call.
        if let kind {
            switch filter.verdict(path, isFolder: kind == .directory) {
            case .share: break
            case .skip(let reason): return .skipped(path, reason)
            case .invisible: return nil
            }
        }
        if kind == .symlink { return .skipped(path, .symlink) }
        if kind == .other { return .skipped(path, .notRegular) }
        if kind == .directory {
            folders.append(path)
            return nil
        }
        let status: FileStatus
        do throws(SystemError) {
            guard let found = try open?.folder.status(of: entry.name) else { return nil }
            status = found
        } catch { return .skipped(path, .unreadable) }
        kind = status.kind
        switch filter.verdict(path, isFolder: kind == .directory) {
        case .share: break
        case .skip(let reason): return .skipped(path, reason)
        case .invisible: return nil
        }
        switch status.kind {
        case .regular: return .file(path, status)
        case .symlink: return .skipped(path, .symlink)
        case .other: return .skipped(path, .notRegular)
        case .directory:
            folders.append(path)
            return nil
        }
    }
}
