import CAvahi

/// The search for services of one type over a stack.
///
/// What is resolved is watched further: Avahi asks again for the names whose time runs out, and
/// says when nobody answers. That costs packets on all links for ever, so that of the two families
/// of one interface one is watched, and nothing of services that do not matter.
final class AvahiSearch {
    /// How many services are looked at; the daemon has an end at 1024 objects of one client.
    static let mostPlaces = 512

    private struct Lookup {
        var resolver: OpaquePointer?
        var sighting: ServiceSighting?
    }

    private let stack: any AvahiStack
    private let type: String
    /// Interfaces by name; none for all but loopback.
    private let interfaces: [String]
    private var lookups: [AvahiNotes.Place: Lookup] = [:]
    /// Services that do not matter, by name.
    private var unwatched: Set<String> = []
    private(set) var failure: AvahiError?

    init(_ stack: any AvahiStack, type: String, interfaces: [String]) {
        self.stack = stack
        self.type = type
        self.interfaces = interfaces
        do throws(AvahiError) { try stack.browse(type: type) } catch { failure = error }
    }

    var seen: Set<ServiceSighting> { Set(lookups.values.compactMap(\.sighting)) }

    /// Takes in what Avahi said; whether anything that is seen changed.
    func handle(_ note: AvahiNotes.Note) -> Bool {
        switch note {
        case .appeared(let place):
            if lookups[place] == nil, lookups.count < Self.mostPlaces, isChosen(place) {
                open(place)
            }
            return false
        case .vanished(let place):
            guard let lookup = lookups.removeValue(forKey: place) else { return false }
            if let resolver = lookup.resolver { stack.free(resolver: resolver) }
            settle(place)
            return lookup.sighting != nil
        case .resolved(let place, let sighting): return see(sighting, at: place)
        case .unresolved(let place): return see(nil, at: place)
        case .browsingFailed:
            failure = AvahiError(
                code: Int32(AVAHI_ERR_FAILURE), call: "avahi_service_browser_new")
            return true
        }
    }

    /// Watches no more what is seen of the services of these names, and that of all others.
    func leaveUnwatched(_ names: Set<String>) {
        guard names != unwatched else { return }
        unwatched = names
        for place in lookups.keys where place.family == Int32(AVAHI_PROTO_INET6) { settle(place) }
        for place in lookups.keys where place.family == Int32(AVAHI_PROTO_INET) { settle(place) }
    }

    private func see(_ sighting: ServiceSighting?, at place: AvahiNotes.Place) -> Bool {
        // What is not asked for any more may still be answered.
        guard let former = lookups[place], former.resolver != nil, former.sighting != sighting
        else { return false }
        lookups[place]?.sighting = sighting
        settle(place)
        return true
    }

    /// Watches of a service on an interface what is to be watched.
    private func settle(_ place: AvahiNotes.Place) {
        let four = place.of(AvahiProtocol(AVAHI_PROTO_INET))
        let six = place.of(AvahiProtocol(AVAHI_PROTO_INET6))
        let isSixSeen = lookups[six]?.sighting != nil
        for place in [four, six] {
            guard let lookup = lookups[place] else { continue }
            let isWatched: Bool
            if let sighting = lookup.sighting {
                isWatched =
                    !unwatched.contains(sighting.name) && (place == six || !isSixSeen)
            } else {
                isWatched = true
            }
            if isWatched, lookup.resolver == nil { open(place) }
            if !isWatched, let resolver = lookup.resolver {
                stack.free(resolver: resolver)
                lookups[place]?.resolver = nil
            }
        }
    }

    private func open(_ place: AvahiNotes.Place) {
        do throws(AvahiError) {
            lookups[place, default: Lookup()].resolver = try stack.resolve(place, type: type)
        } catch {
            // A name that cannot be asked for: it is nobody's until it appears again.
            lookups[place] = nil
        }
    }

    private func isChosen(_ place: AvahiNotes.Place) -> Bool {
        guard let name = AvahiNotes.interfaceName(place.interface) else { return false }
        return interfaces.isEmpty ? name != "lo" : interfaces.contains(name)
    }

    /// Ends all lookups.
    func close() {
        for resolver in lookups.values.compactMap(\.resolver) { stack.free(resolver: resolver) }
        lookups = [:]
    }
}

extension AvahiNotes.Place {
    /// The same service on the same interface, as the other family tells of it.
    fileprivate func of(_ family: AvahiProtocol) -> Self {
        Self(interface: interface, family: family, name: name)
    }
}
