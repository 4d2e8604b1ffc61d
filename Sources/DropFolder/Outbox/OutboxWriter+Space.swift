import ChuteKit
import ChuteSystem

/// How much may still be promised.
extension OutboxWriter {
    /// The space that may be promised to files of `needed` bytes altogether.
    func availableSpace(_ place: Place, for needed: UInt64) async throws -> SpaceBudget {
        let info = try FileSystemInfo.of(
            descriptor: place.publisher.root.folder.descriptor.raw)
        var usage = SpaceLimits.Usage(
            free: info.freeBytes, hasNames: info.freeFiles.map { $0 > 16 } ?? true)
        if limits.maxTotal == nil, let bound = promises.total {
            usage.unwritten = bound
            let budget = limits.budget(usage)
            var trial = budget
            if trial.take(needed) { return budget }
        }
        let root = root
        let (counts, held, outboxes) = try await chute.reader.read { snapshot in
            (
                try snapshot.wantedByteCounts(), try snapshot.byteCount(inRoot: root),
                try snapshot.rows(FolderRecord.self).filter { $0.kind == .outbox }
            )
        }
        usage.held = held
        usage.promised = counts[root] ?? 0
        promises.set(root, to: usage.promised)
        let device = try place.publisher.root.folder.status().device
        let neighbours = outboxes.filter { $0.root == root || Self.isDevice(device, of: $0.path) }
        usage.unwritten = neighbours.reduce(0) { $0 + (counts[$1.root] ?? 0) }
        var trial = limits.budget(usage)
        if !trial.take(needed) {
            // It is short: what is written already is no longer free, and counts once.
            for neighbour in neighbours where counts[neighbour.root] != nil {
                let written = try await writtenByteCount(neighbour)
                usage.unwritten -= min(usage.unwritten, written)
            }
        }
        return limits.budget(usage)
    }

    /// What the wants of an outbox take on disk already.
    private func writtenByteCount(_ record: FolderRecord) async throws -> UInt64 {
        let wants = try await chute.reader.read { try $0.wants(inRoot: record.root) }
        do throws(SystemError) {
            let folder = try Folder(at: record.path)
            var sum: UInt64 = 0
            for want in wants {
                guard let status = try folder.status(of: want.path) else { continue }
                sum += min(status.allocated, want.attachment.byteCount)
            }
            return sum
        } catch {
            return 0  // not there: nothing of it is on this file system
        }
    }

    private static func isDevice(_ device: UInt64, of path: BytePath) -> Bool {
        do throws(SystemError) {
            return try FileStatus.of(path, followingLinks: true).device == device
        } catch {
            return false
        }
    }
}
