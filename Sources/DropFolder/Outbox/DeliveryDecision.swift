import ChuteKit

/// What to do about one version of somebody else's file in one outbox.
///
/// A pure function of the document, what the row says, and the folder's rules.
enum DeliveryDecision: Hashable {
    /// Nothing new.
    case none
    /// Fetch and publish it; an untouched copy of an earlier version is replaced.
    case fetch
    /// The same bytes under another path: the copy moves along.
    case move
    /// Not taken, and why.
    case refuse(reason: SkipReason, detail: String)
    /// Its origin took it back before it was delivered.
    case withdraw
    /// Its origin took it back; a copy is here.
    case retract

    /// The folder's rules, as far as they can be judged before the bytes are here.
    struct Rules: Hashable {
        var accept: [MIMEPattern]
        var maxSize: UInt64?
        /// What is narrower for some devices.
        var peers: [DeviceID: PeerRules] = [:]

        /// Narrower rules for what one device shares.
        struct PeerRules: Hashable {
            /// `nil` for whatever the folder accepts.
            var accept: [MIMEPattern]?
            var maxSize: UInt64?
            /// What all of its files may take, in bytes; `nil` without limit. See `PeerBudgets`.
            var maxTotal: UInt64?
        }

        /// The rules for what a device shares: both its own and the folder's have to allow a file.
        func forFiles(of origin: DeviceID) -> Rules {
            guard let peer = peers[origin] else { return self }
            var rules = Rules(accept: accept, maxSize: maxSize)
            rules.maxSize = [maxSize, peer.maxSize].compactMap(\.self).min()
            rules.alsoAccept = peer.accept
            return rules
        }

        /// Beside `accept`: a type has to be in both.
        private var alsoAccept: [MIMEPattern]?

        init(accept: [MIMEPattern], maxSize: UInt64? = nil, peers: [DeviceID: PeerRules] = [:]) {
            self.accept = accept
            self.maxSize = maxSize
            self.peers = peers
        }

        var takesEverything: Bool {
            ([accept] + [alsoAccept].compactMap(\.self)).allSatisfy { patterns in
                patterns.contains { $0.matches(.octetStream) }
            }
        }

        /// Why a file of this claimed type and size is not taken; `nil` where it may be. A vague
        /// claim is judged by the first bytes, see `part(type:)`.
        func refusal(type: String, byteCount: UInt64) -> DeliveryDecision? {
            if let maxSize, byteCount > maxSize {
                return .refuse(
                    reason: .tooLarge,
                    detail: AcceptanceWords.tooLarge(byteCount, limit: maxSize))
            }
            guard let claimed = MIMEType(type), !claimed.isVague else { return nil }
            return refusal(of: claimed)
        }

        /// Whether a file was refused by limits that are not in force any more.
        func isOutOfDate(_ record: DeliveryRecord) -> Bool {
            record.state == .refused
                && AcceptanceWords.isOutOfDate(
                    SkipReason(rawValue: record.reason), record.detail,
                    accept: [accept] + [alsoAccept].compactMap(\.self), maxSize: maxSize)
        }

        /// How much of a file of this claimed type is fetched before it is judged: of a vague
        /// claim the beginning, unless everything is taken.
        func part(type: String) -> Want.Part {
            takesEverything || MIMEType(type)?.isVague == false ? .whole : .sample
        }

        /// Why a file of this type, told from its bytes, is not taken.
        func refusal(of type: MIMEType) -> DeliveryDecision? {
            for patterns in [accept] + [alsoAccept].compactMap(\.self)
            where !patterns.contains(where: { $0.matches(type) }) {
                return .refuse(
                    reason: .typeRefused, detail: AcceptanceWords.refused(type, by: patterns))
            }
            return nil
        }
    }

    static func of(_ document: OwnedDocument, _ record: DeliveryRecord?, _ rules: Rules) -> Self {
        if let record, record.versionID == document.versionID { return .none }
        guard let file = document.fields.flatMap(FileDocument.init) else {
            guard let record else { return .none }
            // Also the copy of an earlier version, while a later one is on its way.
            return record.copy != nil ? .retract : .withdraw
        }
        // What the user removed stays gone, also under its new name.
        if let record, record.attachment == file.attachment,
            record.state == .delivered || record.state == .removed
        {
            return .move
        }
        if (try? OutboxNaming().name(file.path)) == nil {
            return .refuse(reason: .nameRefused, detail: "the path leaves the folder, or is none")
        }
        return rules.forFiles(of: document.origin)
            .refusal(type: file.type, byteCount: file.attachment.byteCount) ?? .fetch
    }
}
