import ChuteSystem
import Glibc

/// What a look at all blobs found.
public struct VerificationReport: Hashable, Sendable {
    /// How many were hashed and are what their names say.
    public internal(set) var soundCount = 0
    /// Their bytes.
    public internal(set) var soundByteCount: UInt64 = 0
    /// Those that are not, or cannot be read: set aside, and fetched again by the next fetch.
    public internal(set) var damaged: [AttachmentID] = []
    /// Those whose file is gone.
    public internal(set) var missing: [AttachmentID] = []
}

extension BlobFolder {
    /// What became of hashing a file of the folder.
    enum Hashing {
        case missing
        case unreadable(SystemError)
        case hashed(AttachmentID?, PieceTree.Summary, fingerprint: [UInt8])
    }

    /// Hashes a file of the folder from start to end. Throws `CancellationError`, and `file` where
    /// the system cannot open or read anything now: that says nothing of this file.
    func hash(_ name: BytePath) throws -> Hashing {
        let status: FileStatus
        let summary: PieceTree.Summary?
        do throws(SystemError) {
            let file = try folder.open(name, O_RDONLY | O_NONBLOCK)
            status = try file.status()
            summary = try hasher.summary(
                of: file, expectedLength: status.size, shouldStop: { Task.isCancelled })
        } catch {
            if [EMFILE, ENFILE, ENOMEM, EAGAIN].contains(error.code) {
                throw ChuteError(error, "\(name) in \(path) cannot be looked at now")
            }
            return error.isNotFound ? .missing : .unreadable(error)
        }
        guard let summary else { throw CancellationError() }
        let attachment = Digest(bytes: summary.id).flatMap {
            AttachmentID(digest: $0, byteCount: summary.byteCount)
        }
        return .hashed(attachment, summary, fingerprint: FileFingerprint(status).encoded)
    }

    /// Hashes every blob. What is damaged is set aside and not served any more; nothing else
    /// changes. Cancelled, it throws, and what it found by then is done.
    func verify() async throws -> VerificationReport {
        let root = root
        var report = VerificationReport()
        for blob in try await reader.read({ try $0.blobs(inRoot: root) }) {
            try Task.checkCancellation()
            let before = report
            report = try await exclusively(blob.attachment) {
                var report = before
                // It may have been collected, or be another file by now.
                let isKnown = try await reader.read {
                    try $0.blob(of: blob.attachment, inRoot: root) != nil
                }
                guard isKnown else { return report }
                switch try hash(blob.location.path) {
                case .hashed(blob.attachment, _, let fingerprint):
                    report.soundCount += 1
                    report.soundByteCount += blob.attachment.byteCount
                    guard fingerprint != blob.location.fingerprint else { break }
                    try await store.write {
                        try $0.addLocation(
                            Location(
                                root: root, path: blob.location.path, fingerprint: fingerprint,
                                isOwned: true), of: blob.attachment)
                    }
                case .missing:
                    report.missing.append(blob.attachment)
                    try await forget(blob)
                case .hashed, .unreadable:
                    report.damaged.append(blob.attachment)
                    try await forget(blob)
                    try setAside(blob.location.path)
                }
                return report
            }
        }
        return report
    }

    private func forget(_ blob: Snapshot.Blob) async throws {
        try await store.write { try $0.forget(blob) }
    }

    /// Moves a file out of the way, for a person to look at.
    func setAside(_ name: BytePath) throws {
        let suffix = "." + Hexadecimal.text(SecretBytes.random(count: 4))
        let target = Self.damaged.appending(BytePath(bytes: name.bytes + Array(suffix.utf8)))
        do throws(SystemError) {
            try folder.renameExclusively(name, to: target, in: folder)
            try folder.sync()
        } catch { throw ChuteError(error, "a damaged attachment cannot be set aside in \(path)") }
        diagnostics.warning("\(name) is not what its name says: it lies in \(path)/\(target)")
    }
}
