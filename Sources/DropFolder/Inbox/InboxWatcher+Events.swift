import ChuteSystem

/// What events tell.
extension InboxWatcher {
    func handleEvents() {
        guard let events = inotify?.take() else { return }
        for event in events { handle(event) }
    }

    private func handle(_ event: InotifyEvent) {
        if event.mask.contains(.overflow) { return loseTrack() }
        guard let folder = watches[event.watch] else { return }
        if event.mask.contains(.ignored) { return watches.remove(event.watch) }
        if event.name.isEmpty {
            // The folder itself went. Of a folder below the root its parent tells the rest.
            let isLoss: InotifyEvent.Mask = [.selfDeleted, .selfMoved, .unmounted]
            if folder.isEmpty, !event.mask.isDisjoint(with: isLoss) { nextCheck = clock.now }
            return
        }
        let path = folder.appending(event.name)
        if event.mask.contains(.isFolder) {
            handleFolder(path, event)
        } else if let kind = InboxSighting.Kind(event) {
            handleFile(path, kind)
        }
    }

    private func handleFile(_ path: BytePath, _ kind: InboxSighting.Kind) {
        switch filter.verdict(path, isFolder: false) {
        case .share: tell(.file(path, kind))
        case .invisible: break
        case .skip(let reason):
            switch kind {
            case .modified, .attributes, .closedWrite: break
            default: tell(.skipped(path, reason, kind))
            }
        }
    }

    private func handleFolder(_ path: BytePath, _ event: InotifyEvent) {
        let verdict = filter.verdict(path, isFolder: true)
        if verdict == .invisible { return }
        if case .skip(let reason) = verdict, let kind = InboxSighting.Kind(event) {
            if kind != .attributes { tell(.skipped(path, reason, kind)) }
            return
        }
        if event.mask.contains(.movedFrom) {
            for watch in watches.removeTree(path) { inotify?.remove(watch) }
            tell(.folderMovedFrom(path))
        } else if !event.mask.isDisjoint(with: [.created, .movedTo]) {
            scanFolder(path)
        } else if event.mask.contains(.attributes), !watches.isWatched(path) {
            scanFolder(path)  // it may have become readable
        }
    }

    private func scanFolder(_ path: BytePath) {
        guard let root else { return }
        if folderScans.count < 1024 {
            folderScans.append(InboxScanner(root, from: path, filter: filter))
        } else {
            loseTrack()
        }
    }

    /// Something was missed: only a scan that begins later knows all.
    func loseTrack() {
        wantsScan = true
        scan?.coverage.isComplete = false
    }

    func tell(_ sighting: InboxSighting) {
        if !output.append(sighting) { loseTrack() }
    }
}
