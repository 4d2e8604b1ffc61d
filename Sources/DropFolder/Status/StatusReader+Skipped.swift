import ChuteKit
import ChuteSystem

/// What is not shared, or with a doubt, and why.
extension StatusReader {
    /// Peers whose clock and this device's are more than an hour apart, by their names: nothing
    /// waits for it, but times that people see are wrong at one of the two.
    func addClocks(
        _ live: Fields?, _ members: [Member], _ limit: Int,
        _ report: inout StatusReport.FolderState
    ) {
        for value in live?["clocks"]?.array ?? [] {
            guard let fields = value.map, let lead = fields["lead"]?.integer,
                lead.magnitude > Self.clockTolerance,
                let peer = fields["peer"]?.bytes.flatMap({ Digest(bytes: $0) }),
                let member = members.first(where: { $0.id == DeviceID(peer) })
            else { continue }
            let name = member.profile?.name ?? member.id.short
            report.add(
                BytePath(name), SkipReason.clock.rawValue,
                "its clock is \(Self.span(lead.magnitude)) \(lead < 0 ? "behind" : "ahead of") "
                    + "this device's: set the one that is wrong", limit, .clock)
        }
    }

    /// In seconds.
    private static let clockTolerance: UInt64 = 3600

    private static func span(_ seconds: UInt64) -> String {
        let units: [(UInt64, String)] = [(31_557_600, "years"), (86_400, "days"), (3600, "hours")]
        let unit = units.first { seconds >= 2 * $0.0 } ?? (60, "minutes")
        return "\(seconds / unit.0) \(unit.1)"
    }

    func addSkipped(
        _ root: Int64, _ snapshot: Snapshot, _ live: Fields?, _ limit: Int,
        _ report: inout StatusReport.FolderState
    ) throws {
        let prefix = folderKey(root)
        for skip in try snapshot.rows(SkipRecord.self, after: prefix) {
            guard skip.key.starts(with: prefix) else { break }
            report.add(skip.path, skip.reason, skip.detail, limit)
        }
        for record in try snapshot.rows(InboxRecord.self, after: prefix) {
            guard record.key.starts(with: prefix) else { break }
            if let note = record.note, !record.wasSeenAbsent {
                report.add(
                    record.path, note.reason.rawValue, note.doubt, limit, .doubtful)
            }
        }
        for busy in live?["busy"]?.array ?? [] {
            guard let fields = busy.map, fields["root"]?.integer == root,
                let path = fields["path"]?.bytes, let reason = fields["reason"]?.string
            else { continue }
            report.add(
                BytePath(bytes: path), reason, "waits until it is whole", limit, .waiting)
        }
        for count in live?["settling"]?.array ?? [] {
            guard let fields = count.map, fields["root"]?.integer == root else { continue }
            report.settling = Int(clamping: fields["count"]?.integer ?? 0)
        }
    }
}
