import ChuteSystem
import Glibc
import Synchronization

extension PublishGroup {
    private static let threads = 4

    /// Step 1: makes the bytes and the staged names survive a power cut.
    ///
    /// After a sync error nobody knows which bytes are lost, and a second sync would succeed on
    /// lost ones: every file of the group fails with `mustRewrite`.
    package func sync() {
        syncUnsynced()
        for index in items.indices {
            guard case .waiting = states[index] else { continue }
            do throws(SystemError) { try items[index].staged.endWriting() } catch {
                fail(index, PublishFailure(.mustRewrite, error))
            }
        }
    }

    private func syncUnsynced() {
        let unsynced = items.indices.filter { index in
            guard case .waiting = states[index] else { return false }
            return items[index].durability != .synced
        }
        guard !unsynced.isEmpty else { return }
        let files = unsynced.map { items[$0].staged }
        do throws(SystemError) {
            let facts = facts(of: unsynced)
            switch publisher.syncPlan.method(for: facts) {
            case .wholeFileSystem: try syncWhole(files, facts.byteCount)
            case .perFile: try syncEach(files)
            }
        } catch {
            for index in unsynced { fail(index, PublishFailure(.mustRewrite, error)) }
        }
    }

    private func facts(of indices: [Int]) -> SyncPlan.Group {
        // What cannot be looked at counts as big: its own sync says what is wrong.
        let sizes = indices.map { index in
            (try? items[index].staged.descriptor.status().size) ?? .max
        }
        let isBig = sizes.contains { $0 > SyncPlan.bigSize }
        return SyncPlan.Group(
            count: indices.count, byteCount: isBig ? 0 : sizes.reduce(0, +),
            hasRewrite: indices.contains { items[$0].durability == .rewritten },
            syncsWhole: publisher.kind.syncsWhole, hasBigFile: isBig || writesBigFile)
    }

    private func syncWhole(_ files: [StagedFile], _ byteCount: UInt64) throws(SystemError) {
        for staging in stagings(of: files) {
            let clock = ContinuousClock()
            let start = clock.now
            do throws(SystemError) { try staging.wholeSync.syncFileSystem() } catch {
                publisher.syncPlan.wholeFileSystemSynced(byteCount, in: clock.now - start)
                throw error
            }
            publisher.syncPlan.wholeFileSystemSynced(byteCount, in: clock.now - start)
        }
    }

    // `fsync`, not `fdatasync`: the mode and the time of the last change have to be there too. For
    // a file that is new both wait for the same journal commit.
    private func syncEach(_ files: [StagedFile]) throws(SystemError) {
        if files.count == 1 {
            try files[0].descriptor.sync()
        } else {
            let failure = Mutex<SystemError?>(nil)
            let lanes = min(Self.threads, files.count)
            performTogether(lanes) { lane in
                for index in stride(from: lane, to: files.count, by: lanes) {
                    do throws(SystemError) { try files[index].descriptor.sync() } catch {
                        failure.withLock { $0 = error }
                        return
                    }
                }
            }
            if let error = failure.withLock({ $0 }) { throw error }
        }
        for staging in stagings(of: files) {
            try OutboxPublisher.syncFolder(staging.folder)
        }
    }

    private func stagings(of files: [StagedFile]) -> [StagingFolder] {
        var found: [ObjectIdentifier: StagingFolder] = [:]
        for file in files { found[ObjectIdentifier(file.staging)] = file.staging }
        return Array(found.values)
    }

    /// Step 4: syncs each folder that got a name, once, and every folder newly made above it.
    package func syncFolders() {
        var results: [OutboxTree.Branch.Key: SystemError?] = [:]
        for index in items.indices {
            guard case .named(let outcome, let branch) = states[index] else { continue }
            let failure: SystemError?
            if let known = results[branch.key] {
                failure = known
            } else {
                failure = publisher.failureOfSync(branch)
                results.updateValue(failure, forKey: branch.key)
            }
            // The name is there, but not known to last. The intent stays: recovery asks again.
            if let failure {
                fail(index, PublishFailure(.refused, failure))
            } else {
                states[index] = .done(outcome)
            }
        }
    }

    /// After step 5: removes the staged files of items that adopted a file of the user's. What
    /// cannot be removed is left to the reaper.
    package func discardAdopted() {
        for (item, state) in zip(items, states) {
            if case .done(.adopted) = state { _ = try? item.staged.discard() }
        }
    }
}
