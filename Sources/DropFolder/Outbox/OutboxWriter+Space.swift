import ChuteKit
import ChuteSystem

/// How much may still be promised.
extension OutboxWriter {
    /// The space that may be promised to files of `needed` bytes altogether.
    ///
    /// What is promised is counted before what is free: bytes that are written meanwhile count
    /// twice, not never.
    func availableSpace(_ place: Place, for needed: UInt64) async throws -> SpaceOffer {
        let moment = promises.moment
        var usage = SpaceLimits.Usage(free: 0)
        func budget() throws(SystemError) -> SpaceBudget {
            let info = try FileSystemInfo.of(
                descriptor: place.publisher.root.folder.descriptor.raw)
            usage.free = info.freeBytes
            usage.hasNames = info.freeFiles.map { $0 > 16 } ?? true
            return limits.budget(usage)
        }
        if limits.maxTotal == nil, let bound = promises.total {
            usage.unwritten = bound
            let budget = try budget()
            if budget.left >= needed { return SpaceOffer(budget: budget, moment: moment) }
        }
        let root = root
        let (counts, held, outboxes) = try await chute.store.read { snapshot in
            (
                try snapshot.wantedByteCounts(), try snapshot.byteCount(inRoot: root),
                try snapshot.rows(FolderRecord.self).filter { $0.kind == .outbox }
            )
        }
        usage.held = held
        usage.promised = counts[root] ?? 0
        promises.set(root, to: usage.promised, since: moment)
        let device = try place.publisher.root.folder.status().device
        let neighbours = outboxes.filter { $0.root == root || Self.isDevice(device, of: $0.path) }
        usage.unwritten = neighbours.reduce(0) { $0 + (counts[$1.root] ?? 0) }
        if try budget().left < needed {
            // It is short: what is written already is no longer free, and counts once.
            usage.unwritten = 0
            for neighbour in neighbours {
                usage.unwritten += try await unwrittenByteCount(neighbour)
            }
        }
        return SpaceOffer(budget: try budget(), moment: moment)
    }

    /// What the wants of an outbox will still take on disk.
    private func unwrittenByteCount(_ record: FolderRecord) async throws -> UInt64 {
        let wants = try await chute.store.read { try $0.wants(inRoot: record.root) }
        let promised = Self.sum(wants.map(\.attachment))
        do throws(SystemError) {
            let folder = try Folder(at: record.path)
            var written: UInt64 = 0
            for want in wants {
                guard let status = try folder.status(of: want.path) else { continue }
                written += min(status.allocated, want.attachment.byteCount)
            }
            return promised - written
        } catch {
            return promised  // not there: nothing of it is on this file system
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
