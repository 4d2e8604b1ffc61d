import ChuteSystem

/// Which watch stands for which folder of an inbox.
struct WatchTable: Sendable {
    private var paths: [InotifyEvent.Watch: BytePath] = [:]
    private var watches: [BytePath: InotifyEvent.Watch] = [:]

    subscript(watch: InotifyEvent.Watch) -> BytePath? { paths[watch] }

    func isWatched(_ path: BytePath) -> Bool { watches[path] != nil }

    /// A watch belongs to an inode: the folder may have had another path before.
    mutating func set(_ watch: InotifyEvent.Watch, to path: BytePath) {
        if let former = paths[watch], former != path { watches[former] = nil }
        if let former = watches[path], former != watch { paths[former] = nil }
        paths[watch] = path
        watches[path] = watch
    }

    mutating func remove(_ watch: InotifyEvent.Watch) {
        guard let path = paths.removeValue(forKey: watch) else { return }
        if watches[path] == watch { watches[path] = nil }
    }

    /// Takes out the watches of a folder and all below it.
    mutating func removeTree(_ folder: BytePath) -> [InotifyEvent.Watch] {
        take { watches, path in path.relative(to: folder) != nil }
    }

    /// Takes out all watches but these.
    mutating func keepOnly(_ kept: Set<InotifyEvent.Watch>) -> [InotifyEvent.Watch] {
        take { watch, _ in !kept.contains(watch) }
    }

    private mutating func take(
        _ isMeant: (InotifyEvent.Watch, BytePath) -> Bool
    ) -> [InotifyEvent.Watch] {
        let meant = paths.filter { isMeant($0.key, $0.value) }.map(\.key)
        for watch in meant { remove(watch) }
        return meant
    }
}
