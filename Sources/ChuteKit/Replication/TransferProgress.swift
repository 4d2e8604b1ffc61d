import Synchronization

/// One transfer as it goes: an attachment, a peer, a direction.
public struct TransferStatus: Hashable, Sendable {
    /// Which way the bytes go.
    public enum Direction: String, Sendable { case sending, receiving }

    /// What is transferred.
    public let attachment: AttachmentID
    /// With whom; `nil` while several serve it.
    public let peer: DeviceID?
    /// Which way the bytes go.
    public let direction: Direction
    /// The bytes that are there, never more than `total` and never fewer than before.
    public let done: UInt64
    /// The bytes of the attachment.
    public let total: UInt64
}

/// Counts bytes for whoever watches. Never read to decide anything.
final class TransferProgress: Sendable {
    private struct Key: Hashable {
        let attachment: AttachmentID
        let peer: DeviceID?
        let direction: TransferStatus.Direction
    }

    private struct Entry {
        var done: UInt64
        var touched: ContinuousClock.Instant
    }

    private let entries = Mutex<[Key: Entry]>([:])
    /// A transfer to a peer of which nothing was heard for this long is not shown any more.
    private static let lifetime = Duration.seconds(5)
    private static let limit = 1024

    func sent(_ count: Int, of attachment: AttachmentID, to peer: DeviceID?, piece: UInt64?) {
        guard let piece, attachment.byteCount > UInt64(PieceTree.pieceByteCount) else { return }
        let reached = min(
            piece * UInt64(PieceTree.pieceByteCount) + UInt64(count), attachment.byteCount)
        let key = Key(attachment: attachment, peer: peer, direction: .sending)
        entries.withLock { entries in
            let done = max(entries[key]?.done ?? 0, reached)
            if done == attachment.byteCount { return entries[key] = nil }
            guard entries.count < Self.limit else { return }
            entries[key] = Entry(done: done, touched: .now)
        }
    }

    func received(_ done: UInt64, of attachment: AttachmentID, from peer: DeviceID?) {
        let key = Key(attachment: attachment, peer: nil, direction: .receiving)
        entries.withLock { entries in
            guard entries[key] != nil || entries.count < Self.limit else { return }
            entries[key] = Entry(done: max(entries[key]?.done ?? 0, done), touched: .now)
        }
    }

    /// The bytes of an attachment that are being received and are there; `nil` for none.
    func received(of attachment: AttachmentID) -> UInt64? {
        let key = Key(attachment: attachment, peer: nil, direction: .receiving)
        return entries.withLock { $0[key]?.done }
    }

    func ended(_ attachment: AttachmentID) {
        let key = Key(attachment: attachment, peer: nil, direction: .receiving)
        entries.withLock { $0[key] = nil }
    }

    func all(now: ContinuousClock.Instant = .now) -> [TransferStatus] {
        entries.withLock { entries in
            entries = entries.filter {
                $0.key.direction == .receiving || now - $0.value.touched < Self.lifetime
            }
            return entries.map { key, entry in
                TransferStatus(
                    attachment: key.attachment, peer: key.peer, direction: key.direction,
                    done: min(entry.done, key.attachment.byteCount),
                    total: key.attachment.byteCount)
            }
        }
    }
}
