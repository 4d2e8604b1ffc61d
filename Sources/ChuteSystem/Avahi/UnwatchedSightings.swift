/// What was seen and need not be watched any further.
package struct UnwatchedSightings: Hashable, Sendable {
    /// What does not matter: the oldest of very many are not seen any more.
    package var strangers: Set<ServiceSighting>
    /// What matters, and is well as it was seen.
    package var resting: Set<ServiceSighting>

    package init(strangers: Set<ServiceSighting> = [], resting: Set<ServiceSighting> = []) {
        self.strangers = strangers
        self.resting = resting
    }
}
