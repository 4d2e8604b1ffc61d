import ChuteKit

/// What may still come of each device whose files have a limit altogether, in bytes. A value.
struct PeerBudgets: Hashable, Sendable {
    /// Below zero where a limit was lowered.
    private var left: [DeviceID: Int64]

    /// `limits` and what counts of each device already.
    init(limits: [DeviceID: UInt64] = [:], held: [DeviceID: UInt64] = [:]) {
        left = limits.reduce(into: [:]) { left, limit in
            left[limit.key] =
                Int64(clamping: limit.value) - Int64(clamping: held[limit.key] ?? 0)
        }
    }

    /// Whether `count` more bytes of a device certainly fit.
    func fits(_ count: UInt64, of device: DeviceID) -> Bool {
        left[device].map { Int64(clamping: count) <= $0 } ?? true
    }

    /// Has `new` bytes of a file count in the place of `old`; `false`, and nothing is changed, where
    /// the device would have more than its limit. A file that gets no larger always fits.
    mutating func change(_ device: DeviceID, from old: UInt64, to new: UInt64) -> Bool {
        guard let left = left[device] else { return true }
        let (old, new) = (Int64(clamping: old), Int64(clamping: new))
        let all = left.addingReportingOverflow(old)
        guard new <= old || all.overflow || new <= all.partialValue else { return false }
        self.left[device] = (all.overflow ? .max : all.partialValue) - new
        return true
    }
}

extension DeliveryRecord {
    /// What counts for the limit of the device that shared it, in bytes: the copy in the outbox, or
    /// what is on its way in its place. What was the user's own before takes nothing.
    var countedBytes: UInt64 { max(heldBytes, want != nil || staged != nil ? byteCount : 0) }

    /// Of that, the copy.
    var heldBytes: UInt64 {
        state == .removed || isUsersOwn ? 0 : copy?.fingerprint.size ?? 0
    }

    private var byteCount: UInt64 { attachment.byteCount }
}
