import CAvahi

/// The search for services of one type over a stack.
///
/// What is resolved is watched further: Avahi asks again for the names whose time runs out, and
/// says when nobody answers. That costs packets on all links for ever, so that of the two families
/// of one interface one is watched, and nothing of services that do not matter (`SearchTable`).
final class AvahiSearch {
    private let stack: any AvahiStack
    private let type: String
    /// Interfaces by name; none for all but loopback.
    private let interfaces: [String]
    private var table = SearchTable()
    private var resolvers: [AvahiNotes.Place: OpaquePointer] = [:]
    private(set) var failure: AvahiError?

    init(_ stack: any AvahiStack, type: String, interfaces: [String]) {
        self.stack = stack
        self.type = type
        self.interfaces = interfaces
        do throws(AvahiError) { try stack.browse(type: type) } catch { failure = error }
    }

    /// In the order in which it was heard of.
    var seen: [ServiceSighting] { table.seen }

    /// Takes in what Avahi said; whether anything that is seen changed.
    func handle(_ notes: [AvahiNotes.Note]) -> Bool {
        let hadFailed = failure != nil
        for note in notes { take(note) }
        takeSteps()
        return table.takeIsSeenNew() || hadFailed != (failure != nil)
    }

    private func take(_ note: AvahiNotes.Note) {
        switch note {
        case .appeared(let place): if isChosen(place) { table.appeared(place) }
        case .vanished(let place): table.vanished(place)
        case .resolved(let place, let sighting): table.found(sighting, at: place)
        case .unresolved(let place): table.found(nil, at: place)
        case .browsingFailed:
            failure = AvahiError(
                code: Int32(AVAHI_ERR_FAILURE), call: "avahi_service_browser_new")
        }
    }

    /// Watches no more what was seen like this, and all else; whether anything that is seen changed.
    func leaveUnwatched(_ sightings: UnwatchedSightings) -> Bool {
        table.leaveUnwatched(sightings)
        takeSteps()
        return table.takeIsSeenNew()
    }

    private func takeSteps() {
        while let step = table.nextStep() {
            switch step {
            case .open(let place): open(place)
            case .close(let place):
                if let resolver = resolvers.removeValue(forKey: place) {
                    stack.free(resolver: resolver)
                }
            }
        }
    }

    private func open(_ place: AvahiNotes.Place) {
        do throws(AvahiError) {
            resolvers[place] = try stack.resolve(place, type: type)
        } catch {
            // A name that cannot be asked for: it is nobody's until it appears again.
            table.vanished(place)
        }
    }

    private func isChosen(_ place: AvahiNotes.Place) -> Bool {
        guard let name = AvahiNotes.interfaceName(place.interface) else { return false }
        return interfaces.isEmpty ? name != "lo" : interfaces.contains(name)
    }

    /// Ends all lookups.
    func close() {
        for resolver in resolvers.values { stack.free(resolver: resolver) }
        resolvers = [:]
        table = SearchTable()
    }
}
