extension InboxSighting {
    /// What a `SettleTracker` makes of this. A scanned file is to be compared with its row first:
    /// one whose fingerprint is recorded needs no settling.
    package var settleEvent: SettleTracker.Event? {
        switch self {
        case .file(let path, let kind):
            switch kind {
            case .created: .seen(path, .created)
            case .closedWrite: .seen(path, .closedWrite)
            case .movedTo: .seen(path, .movedTo)
            case .scanned: .seen(path, .scanned)
            case .modified: .modified(path)
            case .attributes: .attributes(path)
            case .deleted, .movedFrom: .vanished(path)
            }
        case .skipped, .folderMovedFrom, .scanBegan, .scanEnded, .state: nil
        }
    }

    /// What a `NameHistory` makes of this. Names that are not shared count too: editors rename
    /// aside to such.
    package var nameEvent: NameHistory.Event? {
        switch self {
        case .file(let path, let kind), .skipped(let path, _, .some(let kind)):
            switch kind {
            case .created: .created(path)
            case .movedTo(let cookie): .movedTo(path, cookie: cookie)
            case .movedFrom(let cookie): .movedFrom(path, cookie: cookie)
            case .deleted: .deleted(path)
            case .closedWrite, .modified, .attributes, .scanned: nil
            }
        case .skipped(_, _, nil), .folderMovedFrom, .scanBegan, .scanEnded, .state: nil
        }
    }
}
