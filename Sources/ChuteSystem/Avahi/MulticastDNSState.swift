/// How looking for others by multicast DNS goes.
package struct MulticastDNSState: Hashable, Sendable {
    /// Who speaks it for this process.
    package enum Speaker: Hashable, Sendable {
        /// The Avahi daemon of this host.
        case daemon
        /// Avahi's core within this process, where no daemon answers.
        case embedded
        /// Nobody; why, once it was tried.
        case nobody(AvahiError?)
    }

    /// How the announcement of the own service is.
    package enum Announcing: Hashable, Sendable {
        case nothing
        /// Asking the links whether the names are free.
        case probing
        case established
        /// Somebody else has the name: announce it by another one.
        case collision
        case failed(AvahiError)
    }

    package var speaker: Speaker
    package var announcing: Announcing
    /// Why nothing can be found.
    package var browsingFailure: AvahiError?
    /// All that is to be seen, in the order in which it was heard of.
    package var sightings: [ServiceSighting]

    package init(
        speaker: Speaker = .nobody(nil), announcing: Announcing = .nothing,
        browsingFailure: AvahiError? = nil, sightings: [ServiceSighting] = []
    ) {
        self.speaker = speaker
        self.announcing = announcing
        self.browsingFailure = browsingFailure
        self.sightings = sightings
    }
}
