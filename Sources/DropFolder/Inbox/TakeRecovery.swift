/// What to do about a file that an earlier run was taking away: a pure function of where it is.
package enum TakeRecovery: Hashable, Sendable {
    /// It lies aside: look at it, and take it or put it back.
    case resume
    /// It has both names: the one aside goes.
    case dropSecondName
    /// It is under its name: the row says so again.
    case restore
    /// It never was set aside, and its name is the user's matter.
    case forget
    /// It has left.
    case done

    /// `aside` and `inPlace` are the files that have the two names now; `isLeaving` says that it
    /// was decided, and recorded, that the file goes.
    package static func of(
        isLeaving: Bool, aside: InodeIdentity?, inPlace: InodeIdentity?, expected: InodeIdentity
    ) -> TakeRecovery {
        if let aside { return aside == inPlace ? .dropSecondName : .resume }
        if inPlace == expected { return .restore }
        return isLeaving ? .done : .forget
    }
}
