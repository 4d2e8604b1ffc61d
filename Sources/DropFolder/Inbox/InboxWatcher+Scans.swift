import ChuteSystem

/// What scans find.
extension InboxWatcher {
    struct FullScan {
        var scanner: InboxScanner
        let generation: UInt64
        let began: ContinuousClock.Instant
        var coverage = InboxSighting.Coverage(isComplete: true)
        var round: WatchRound
    }

    /// What became of the watches that a scan wanted.
    struct WatchRound {
        var entered: Set<InotifyEvent.Watch> = []
        /// Why there is a folder without one.
        var failure: String?
    }

    private func kind(of root: InboxRoot) -> FileSystemReach { settings.fileSystem ?? root.kind }

    /// Does a batch of what is to be scanned; `false` when there is nothing to do or no room.
    func advanceScans(_ now: ContinuousClock.Instant) -> Bool {
        guard let root else { return false }
        if isScanAsked.withLock({ asked in
            defer { asked = false }
            return asked
        }) {
            loseTrack()
        }
        if now >= nextScan {
            wantsScan = true
            nextScan = now + settings.rescanPause
        }
        guard !folderScans.isEmpty || scan != nil || wantsScan, output.hasRoom() else {
            return false
        }
        if !folderScans.isEmpty {
            advanceFolderScan()
        } else if scan != nil {
            advanceFullScan()
        } else {
            beginScan(root, now)
        }
        return true
    }

    private func beginScan(_ root: InboxRoot, _ now: ContinuousClock.Instant) {
        wantsScan = false
        nextScan = now + settings.rescanPause * Double.random(in: 0.8...1.2)
        generation += 1
        var round = WatchRound()
        if inotify == nil, kind(of: root) == .local {
            let signal = signal
            do throws(SystemError) {
                inotify = try Inotify(capacity: settings.eventCapacity) { signal.raise() }
            } catch {
                round.failure = error.inotifyLimitRemedy ?? error.description
            }
        }
        scan = FullScan(
            scanner: InboxScanner(root, filter: filter), generation: generation, began: now,
            round: round)
        output.appendAlways(.scanBegan(generation: generation, afterAbsence: isAfterAbsence))
        isAfterAbsence = false
    }

    private func advanceFullScan() {
        guard var running = scan else { return }
        var round = running.round
        let batch = running.scanner.next(limit: settings.scanBatch) { path, folder in
            watch(folder, at: path, in: &round)
        }
        running.round = round
        scan = running
        guard let batch else { return endScan() }
        for entry in batch {
            if case .unread(let path, _) = entry { scan?.coverage.unread.append(path) }
            tell(entry)
        }
    }

    private func endScan() {
        guard let finished = scan else { return }
        scan = nil
        var coverage = finished.coverage
        let isThere = root.map { $0.isStill(at: path) && isOurs($0.folder) } ?? false
        if !isThere || coverage.unread.contains("") {
            coverage.isComplete = false
            nextCheck = clock.now
        }
        if coverage.isComplete {
            for watch in watches.keepOnly(finished.round.entered) { inotify?.remove(watch) }
        }
        output.appendAlways(.scanEnded(generation: finished.generation, coverage))
        settle(into: finished)
    }

    /// Chooses between watching and polling by how the scan went.
    private func settle(into finished: FullScan) {
        guard let root else { return }
        if kind(of: root) == .remote {
            enter(.polling(.remoteFileSystem))
        } else if let remedy = finished.round.failure {
            enter(.polling(.watchLimit(remedy: remedy)))
        } else {
            return enter(.watching)
        }
        // A big tree is not walked without pause.
        let pause = max(settings.pollPause, (clock.now - finished.began) * 20)
        nextScan = min(nextScan, clock.now + pause)
    }

    private func advanceFolderScan() {
        var running = folderScans.removeLast()
        var round = WatchRound()
        let batch = running.next(limit: settings.scanBatch) { path, folder in
            watch(folder, at: path, in: &round)
        }
        // Polling begins with a full scan; once it does, the next poll finds what is unwatched.
        if round.failure != nil, state == .watching { loseTrack() }
        // A full scan that runs meanwhile must not take these for leftovers.
        scan?.round.entered.formUnion(round.entered)
        guard let batch else { return }
        folderScans.append(running)
        for entry in batch { tell(entry) }
    }

    private func watch(
        _ folder: borrowing Folder, at path: BytePath, in round: inout WatchRound
    ) {
        guard let inotify else { return }
        do throws(SystemError) {
            let watch = try inotify.watch(folder)
            watches.set(watch, to: path)
            round.entered.insert(watch)
        } catch {
            if error.isNotFound { return }  // removed since it was opened
            round.failure = error.inotifyLimitRemedy ?? error.description
        }
    }

    private func tell(_ entry: InboxScanner.Entry) {
        switch entry {
        case .file(let path, let status): tell(.file(path, .scanned(status)))
        case .skipped(let path, let reason), .unread(let path, let reason):
            tell(.skipped(path, reason, nil))
        }
    }
}
