import ChuteKit
import ChuteSystem

extension Agent {
    /// Records what lies in the inboxes now as `existing`: names and fingerprints, so that only
    /// later drops are shared. The number of files and their bytes.
    package func leaveOutExisting() async throws -> (count: Int, byteCount: UInt64) {
        var (count, bytes) = (0, UInt64(0))
        for folder in folders.all {
            guard let record = folder.inbox else { continue }
            let inbox = try InboxRoot(at: record.path)
            var scanner = InboxScanner(inbox, filter: folder.settings.filter)
            while let entries = scanner.next(limit: 512) {
                var skips: [SkipRecord] = []
                for case .file(let path, let status) in entries {
                    skips.append(
                        SkipRecord(
                            root: record.root, path: path, reason: .existing,
                            fingerprint: FileFingerprint(status)))
                    count += 1
                    bytes += status.size
                }
                let found = skips
                try await chute.store.write { transaction in
                    for skip in found {
                        guard try transaction.row(InboxRecord.self, skip.key) == nil else {
                            continue
                        }
                        try transaction.put(skip)
                    }
                }
            }
        }
        return (count, bytes)
    }

    /// Comes back only if the store and the parts that work on disk do; for the watchdog.
    package func proveAlive() async throws {
        _ = try await chute.store.read { try $0.space() }
        try await chute.store.write { _ in }
    }
}
