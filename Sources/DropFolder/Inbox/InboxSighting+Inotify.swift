import ChuteSystem

extension InboxSighting.Kind {
    /// `nil` for what concerns no name.
    init?(_ event: InotifyEvent) {
        let mask = event.mask
        if mask.contains(.created) {
            self = .created
        } else if mask.contains(.closedWrite) {
            self = .closedWrite
        } else if mask.contains(.movedTo) {
            self = .movedTo(cookie: event.cookie)
        } else if mask.contains(.movedFrom) {
            self = .movedFrom(cookie: event.cookie)
        } else if mask.contains(.modified) {
            self = .modified
        } else if mask.contains(.deleted) {
            self = .deleted
        } else if mask.contains(.attributes) {
            self = .attributes
        } else {
            return nil
        }
    }
}
