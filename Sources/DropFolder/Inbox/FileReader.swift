import ChuteKit
import ChuteSystem
import Glibc

/// Reads settled files of one inbox: type, hash, and a second name that keeps the bytes.
///
/// Not `Sendable`: belongs to the ingestor of its inbox. Blocks.
final class FileReader {
    enum Outcome {
        case read(IngestedFile)
        case skipped(SkipReason, detail: String, FileFingerprint?)
        /// It is another one than when it settled, or changed while it was read.
        case changed
        case vanished
    }

    private let accept: [MIMEPattern]
    private let maxSize: UInt64?
    private let detector = MIMEDetector()
    private let hasher = AttachmentHasher()
    private let holder: HeldFiles

    init(accept: [MIMEPattern], maxSize: UInt64?, holder: HeldFiles) {
        self.accept = accept
        self.maxSize = maxSize
        self.holder = holder
    }

    /// Whether a name was left out by limits that are not in force any more.
    func isOutOfDate(_ skip: SkipRecord) -> Bool {
        AcceptanceWords.isOutOfDate(
            SkipReason(rawValue: skip.reason), skip.detail, accept: [accept], maxSize: maxSize)
    }

    /// Why libmagic cannot be used, if so.
    var typeFailure: String? { detector.failure.map(String.init(describing:)) }

    func read(
        _ path: BytePath, as expected: FileFingerprint, note: IngestNote?,
        readAt: Duration, in root: InboxRoot
    ) -> Outcome {
        do throws(SystemError) {
            let file = try root.folder.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            return try read(file, path, expected, note, readAt, root)
        } catch {
            switch error.code {
            case ENOENT, ENOTDIR: return .vanished
            case ELOOP: return .skipped(.symlink, detail: "", nil)
            case ENXIO, ENODEV: return .skipped(.notRegular, detail: "", nil)
            case ENOSPC, EDQUOT: return .skipped(.noSpace, detail: error.description, nil)
            default: return .skipped(.unreadable, detail: error.reason, nil)
            }
        }
    }

    private func read(
        _ file: borrowing FileDescriptor, _ path: BytePath, _ expected: FileFingerprint,
        _ note: IngestNote?, _ readAt: Duration, _ root: InboxRoot
    ) throws(SystemError) -> Outcome {
        let before = try file.status()
        guard before.kind == .regular else { return .skipped(.notRegular, detail: "", nil) }
        let print = FileFingerprint(before)
        guard print.hasSameContentTimes(as: expected) else { return .changed }
        if let maxSize, before.size > maxSize {
            return .skipped(
                .tooLarge, detail: AcceptanceWords.tooLarge(before.size, limit: maxSize), print)
        }
        let type = try detector.type(of: file, size: before.size, name: path)
        guard accept.contains(where: { $0.matches(type) }) else {
            return .skipped(
                .typeRefused, detail: AcceptanceWords.refused(type, by: accept), print)
        }
        let hashed: AttachmentHasher.Hashed?
        do {
            hashed = try hasher.hash(descriptor: file.raw, expectedLength: before.size)
        } catch let error as SystemError { throw error } catch { return .changed }
        guard let hashed else { return .changed }
        let held = try holder.hold(file, path, hashed.attachment, in: root)
        let after = FileFingerprint(try file.status())
        guard after.hasSameContentTimes(as: print), hashed.attachment.byteCount == after.size
        else {
            if let held, !held.isKnown { holder.drop(held.path, in: root) }
            return .changed
        }
        return .read(
            IngestedFile(
                path: path, fingerprint: after, attachment: hashed.attachment,
                layer: hashed.layer, note: note, type: type.description, mode: before.mode,
                readAt: readAt, held: held?.path, isHeldOwned: held?.isOwned ?? false))
    }
}
