import ChuteSystem

/// A session that ended with a word.
enum SessionEnd: Error, Sendable, CustomStringConvertible {
    /// The peer said goodbye.
    case refused(GoodbyeReason)
    /// This end did.
    case said(GoodbyeReason)

    var reason: GoodbyeReason {
        switch self {
        case .refused(let reason), .said(let reason): reason
        }
    }

    /// Whether the other end will be as ready as before.
    var isPassing: Bool {
        [
            .stopping, .duplicateConnection, .spaceChanged, .subscriptionChanged,
            .transportChanged, .silent,
        ].contains(reason)
    }

    var description: String { "goodbye: \(reason)" }

    /// The same for whoever used a ticket.
    var forJoiner: ChuteError {
        switch reason {
        case .ticketExpired: ChuteError(.ticketExpired, "the ticket has expired: ask for a new one")
        case .ticketUsedUp: ChuteError(.ticketUsedUp, "the ticket is used up: ask for a new one")
        case .ticketRevoked: ChuteError(.ticketRevoked, "the ticket was revoked: ask for a new one")
        case .ticketUnknown:
            ChuteError(
                .refused, "the inviting device does not know this ticket: ask for a new one")
        default: ChuteError(.refused, "the inviting device says no: \(reason)")
        }
    }
}
