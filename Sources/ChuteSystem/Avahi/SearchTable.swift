/// Which services are asked for, and what is remembered of them. A value without I/O or clock.
///
/// Anybody on a link can announce any number of services. Each is asked for once, in the order in
/// which they were heard of; of those that do not matter the newest are remembered, and the others
/// are asked for again once there is room. What matters gives way to nothing.
struct SearchTable {
    typealias Place = AvahiNotes.Place

    struct Limits {
        /// How many are asked for at a time; the daemon has an end at 1024 objects of one client.
        var lookups = 512
        /// How many that do not matter are remembered with what was seen of them.
        var strangers = 512
        /// How many are known by name. Avahi itself keeps 4096 records of an interface.
        var places = 4096
    }

    /// What is to be done, one at a time.
    enum Step: Equatable {
        /// Ask for it, and watch it.
        case open(Place)
        case close(Place)
    }

    private enum Stage {
        case waiting
        case asked
        case watched(ServiceSighting)
        case unwatched(ServiceSighting)
        /// Unwatched, since it does not matter.
        case stranger(ServiceSighting)

        var isOpen: Bool {
            switch self {
            case .asked, .watched: true
            case .waiting, .unwatched, .stranger: false
            }
        }

        var sighting: ServiceSighting? {
            switch self {
            case .waiting, .asked: nil
            case .watched(let sighting), .unwatched(let sighting), .stranger(let sighting): sighting
            }
        }
    }

    private struct Entry {
        var stage = Stage.waiting
        /// When it was heard of.
        let arrival: UInt64
        /// Its number in the line in which it stands, if it stands in one.
        var number: UInt64?
    }

    private let limits: Limits
    private var entries: [Place: Entry] = [:]
    private var unwatched = UnwatchedSightings()
    private var steps: [Step] = []
    private var lastNumber: UInt64 = 0
    private var openCount = 0
    private var askedCount = 0
    private var strangerCount = 0
    /// Whether something else is seen than when this was last asked.
    private var isSeenNew = false

    /// Those that were never asked for.
    private var fresh = PlaceLine()
    /// Those that were asked for, and are once there is room.
    private var late = PlaceLine()
    /// Those that are asked for and do not answer.
    private var silent = PlaceLine()
    private var strangers = PlaceLine()

    init(limits: Limits = Limits()) { self.limits = limits }

    /// What is seen, in the order in which it was heard of.
    var seen: [ServiceSighting] {
        entries.values.compactMap { entry in entry.stage.sighting.map { (entry.arrival, $0) } }
            .sorted { $0.0 < $1.0 }.map(\.1)
    }

    mutating func takeIsSeenNew() -> Bool {
        defer { isSeenNew = false }
        return isSeenNew
    }

    mutating func nextStep() -> Step? {
        if steps.isEmpty { fill() }
        return steps.isEmpty ? nil : steps.removeFirst()
    }

    mutating func appeared(_ place: Place) {
        guard entries[place] == nil else { return }
        if entries.count >= limits.places { makeRoom() }
        lastNumber += 1
        entries[place] = Entry(arrival: lastNumber)
        stand(place, in: \.fresh)
    }

    /// It is not announced any more, or cannot be asked for.
    mutating func vanished(_ place: Place) {
        guard let entry = entries[place] else { return }
        if entry.stage.sighting != nil { isSeenNew = true }
        leave(place)
        entries[place] = nil
        settle(place)
    }

    /// It was asked for, and there it is; `nil` where nobody answers.
    mutating func found(_ sighting: ServiceSighting?, at place: Place) {
        // What is not asked for any more may still be answered.
        guard let stage = entries[place]?.stage, stage.isOpen else { return }
        if let sighting {
            change(place, to: .watched(sighting))
        } else {
            change(place, to: .asked)
            stand(place, in: \.silent)
        }
        settle(place)
    }

    /// Watches no more what was seen like this, and all else.
    mutating func leaveUnwatched(_ sightings: UnwatchedSightings) {
        guard sightings != unwatched else { return }
        unwatched = sightings
        let places = entries.filter { $0.value.stage.sighting != nil }
            .sorted { $0.value.arrival < $1.value.arrival }.map(\.key)
        for place in places { settle(place) }
    }

    /// Of the two families of one interface one is watched, IPv6 where it is seen.
    private mutating func settle(_ place: Place) {
        let (four, six) = (place.inIPv4, place.inIPv6)
        let isSixSeen =
            entries[six]?.stage.sighting.map { !unwatched.strangers.contains($0) } ?? false
        for place in [four, six] {
            guard let sighting = entries[place]?.stage.sighting else { continue }
            if unwatched.strangers.contains(sighting) {
                change(place, to: .stranger(sighting))
            } else if unwatched.resting.contains(sighting) || (place == four && isSixSeen) {
                change(place, to: .unwatched(sighting))
            } else if entries[place]?.stage.isOpen == true || openCount < limits.lookups {
                change(place, to: .watched(sighting))
            } else {
                change(place, to: .unwatched(sighting))
            }
        }
        while strangerCount > limits.strangers, let oldest = next(in: \.strangers) {
            change(oldest, to: .waiting)
            stand(oldest, in: \.late)
        }
    }

    /// Asks for what there is room for.
    private mutating func fill() {
        while true {
            if openCount < limits.lookups, let place = next(in: \.fresh) {
                change(place, to: .asked)
            } else if openCount < limits.lookups, strangerCount + askedCount < limits.strangers,
                let place = next(in: \.late)
            {
                change(place, to: .asked)
            } else if openCount >= limits.lookups, hasNext(in: \.fresh),
                let place = next(in: \.silent)
            {
                change(place, to: .waiting)
                stand(place, in: \.late)
            } else {
                return
            }
        }
    }

    /// Forgets one that costs the least to forget.
    private mutating func makeRoom() {
        guard let place = next(in: \.late) ?? next(in: \.strangers) ?? next(in: \.fresh) else {
            return
        }
        vanished(place)
    }

    private mutating func change(_ place: Place, to stage: Stage) {
        guard let entry = entries[place] else { return }
        let former = entry.stage
        if former.sighting != stage.sighting { isSeenNew = true }
        // One that goes on being a stranger keeps its place in the line.
        if case .stranger = former, case .stranger = stage { return }
        leave(place, isOpenNext: stage.isOpen)
        entries[place]?.stage = stage
        if stage.isOpen {
            openCount += 1
            if !former.isOpen { steps.append(.open(place)) }
        }
        if case .asked = stage { askedCount += 1 }
        if case .stranger = stage {
            strangerCount += 1
            stand(place, in: \.strangers)
        }
    }

    /// Takes it out of all counts and lines.
    private mutating func leave(_ place: Place, isOpenNext: Bool = false) {
        guard let stage = entries[place]?.stage else { return }
        entries[place]?.number = nil
        if stage.isOpen {
            openCount -= 1
            if !isOpenNext { steps.append(.close(place)) }
        }
        if case .asked = stage { askedCount -= 1 }
        if case .stranger = stage { strangerCount -= 1 }
    }

    private mutating func stand(_ place: Place, in line: WritableKeyPath<Self, PlaceLine>) {
        lastNumber += 1
        entries[place]?.number = lastNumber
        self[keyPath: line].append(place, lastNumber)
        if self[keyPath: line].count > limits.places * 2 {
            let entries = entries
            self[keyPath: line].keep { entries[$0]?.number == $1 }
        }
    }

    private mutating func hasNext(in line: WritableKeyPath<Self, PlaceLine>) -> Bool {
        while let (place, number) = self[keyPath: line].first {
            if entries[place]?.number == number { return true }
            self[keyPath: line].removeFirst()
        }
        return false
    }

    /// Who stands first in a line, and does so no more.
    private mutating func next(in line: WritableKeyPath<Self, PlaceLine>) -> Place? {
        guard hasNext(in: line), let place = self[keyPath: line].first?.place else { return nil }
        self[keyPath: line].removeFirst()
        entries[place]?.number = nil
        return place
    }
}
