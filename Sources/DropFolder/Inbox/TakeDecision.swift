/// Whether `after_ingest` may take a dropped file away: a pure function of what the rows, the
/// document and the receipts say.
///
/// The file goes only while another member has what was shared and keeps it. What members have
/// no receipt for yet must be held for them first.
package enum TakeDecision: Hashable, Sendable {
    /// It may go. `needsHeld`: only while a held copy stands, for there is a member that takes
    /// the collection and has no receipt yet.
    case take(needsHeld: Bool)
    case stay(Reason)

    package enum Reason: Hashable, Sendable {
        /// The name stands empty, or the file was taken before.
        case gone
        /// It was shared with a doubt: cut or empty. Whoever wrote it may not be done.
        case inDoubt
        /// The document is not this device's, is taken back, or names other bytes by now.
        case notCurrent
        /// No other member is known to have it still.
        case onlyCopy
        /// Those that had it do not say now that they have it still: they are not connected, or
        /// their users edited or moved it.
        case unconfirmed
    }

    /// What another device's receipt for this very version says.
    package enum Answer: Hashable, Sendable, CaseIterable {
        case delivered
        /// Delivered, and removed there by its user since.
        case removed
        case refused
        case notWanted
    }

    /// Another device that is a member, or has a receipt.
    package struct Other: Hashable, Sendable {
        /// A device that was removed may never be reached again.
        package var isMember: Bool
        /// It takes the collection, as far as it said.
        package var takes: Bool
        package var answer: Answer?
        /// It says so now, or is not asked.
        package var hasItStill: Bool

        package init(
            isMember: Bool = true, takes: Bool = true, answer: Answer? = nil,
            hasItStill: Bool = true
        ) {
            self.isMember = isMember
            self.takes = takes
            self.answer = answer
            self.hasItStill = hasItStill
        }
    }

    /// What is recorded of the file and its document.
    package struct Facts: Hashable, Sendable {
        package var isHere = true
        package var hasDoubt = false
        /// The document is this device's own and names the bytes that the row names.
        package var isCurrent = true
        package var others: [Other] = []

        package init(
            isHere: Bool = true, hasDoubt: Bool = false, isCurrent: Bool = true,
            others: [Other] = []
        ) {
            self.isHere = isHere
            self.hasDoubt = hasDoubt
            self.isCurrent = isCurrent
            self.others = others
        }
    }

    package static func of(_ facts: Facts) -> TakeDecision {
        guard facts.isHere else { return .stay(.gone) }
        guard !facts.hasDoubt else { return .stay(.inDoubt) }
        guard facts.isCurrent else { return .stay(.notCurrent) }
        let members = facts.others.filter(\.isMember)
        guard members.contains(where: { $0.answer == .delivered }) else {
            return .stay(.onlyCopy)
        }
        guard members.contains(where: { $0.answer == .delivered && $0.hasItStill }) else {
            return .stay(.unconfirmed)
        }
        return .take(needsHeld: members.contains { $0.takes && $0.answer == nil })
    }
}
