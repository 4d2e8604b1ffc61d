package import ChuteSystem

/// What a look at a file on its way out says of it: a pure function.
package enum TakeLook: Hashable, Sendable {
    /// As it was shared, as far as its times tell, and nobody writes it.
    case free
    case missing
    /// Another file, or changed since, or no file at all.
    case changed
    case busy
    /// Whether somebody writes it cannot be told. That is not free.
    case unknown

    /// `found` is `nil` where nothing has the name. Own links and renames move `changed`, so that
    /// it says nothing.
    package static func of(
        _ found: FileFingerprint?, isRegular: Bool = true, expected: FileFingerprint,
        lease: LeaseState
    ) -> TakeLook {
        guard let found else { return .missing }
        guard isRegular, found.hasSameContentTimes(as: expected) else { return .changed }
        return switch lease {
        case .free: .free
        case .busy: .busy
        case .unknown: .unknown
        }
    }
}
