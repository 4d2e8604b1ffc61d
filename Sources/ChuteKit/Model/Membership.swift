/// Who belongs to a space, worked out from the facts that owners signed.
///
/// A value: the same facts give the same members on every device, in whatever order they came.
struct Membership: Sendable, Equatable {
    /// One fact with what its change says of it.
    struct Statement: Hashable, Sendable {
        let hash: Digest
        let author: DeviceID
        /// Needed for the founding only, where it is hashed into the space's id.
        let publicKey: [UInt8]
        let counter: UInt64
        let fact: MemberFact
    }

    /// What is known of one device.
    struct Standing: Hashable, Sendable {
        let role: Role
        /// The device is out: what it wrote with a greater counter does not count.
        let cutoff: UInt64?
        /// The admission that brought it in; `nil` for the founder and shared-key members.
        let admittedBy: DeviceID?

        var isMember: Bool { cutoff == nil }
    }

    private(set) var standings: [DeviceID: Standing] = [:]
    /// The removals in force, by device.
    private(set) var removals: [DeviceID: Set<Digest>] = [:]
    /// All removals by those who were owners, also those that were taken back. An admission names
    /// those of its device: it takes them back, and counts in the place of what was before them.
    private(set) var pastRemovals: [DeviceID: Set<Digest>] = [:]
    private(set) var founder: DeviceID?
    /// What members alone know of the founding; `nil` in spaces without a founder.
    private(set) var foundingNonce: [UInt8]?
    /// Whoever was an owner by the admissions alone, removed since or not: what these stated is
    /// what the members are worked out from.
    private(set) var pastOwners: Set<DeviceID> = []

    /// A space without a known fact: nobody is a member.
    init() {}

    /// Evaluates a paired space: along the admissions from its founder, removals afterwards.
    init(space: SpaceID, statements: Set<Statement>) {
        let founding = statements.first {
            guard case .founding(let nonce) = $0.fact else { return false }
            return DeviceID(publicKey: $0.publicKey) == $0.author
                && SpaceID.founded(by: $0.publicKey, nonce: nonce) == space
        }
        guard let founding else { return }
        founder = founding.author
        if case .founding(let nonce) = founding.fact { foundingNonce = nonce }
        let firstOwners = Set(
            Self.admitted(from: founding.author, statements, counts: { _ in true })
                .filter { $0.value.role == .owner }.keys)
        pastOwners = firstOwners
        pastRemovals = Self.removals(statements, by: firstOwners, before: [:])
        // Whoever was admitted anew to less than an owner removes nobody from its cut-off on.
        var former: [DeviceID: UInt64] = [:]
        while true {
            let past = Self.cutoffs(statements, pastRemovals)
            let lesser = settle(statements, from: founding.author, past)
                .filter { firstOwners.contains($0) && former[$0] == nil }
            if lesser.isEmpty { return }
            for device in lesser { former[device] = past[device] }
            pastRemovals = Self.removals(statements, by: firstOwners, before: former)
        }
    }

    /// Works out who stands, and as what.
    ///
    /// What somebody who was ever removed states counts up to that cut-off, unless it was admitted
    /// as an owner anew, by others than itself and whom it let in since. Each round lets one more
    /// of these state more, or one less for good: this ends. Who was admitted anew to less than an
    /// owner.
    private mutating func settle(
        _ statements: Set<Statement>, from founder: DeviceID, _ past: [DeviceID: UInt64]
    ) -> Set<DeviceID> {
        var restored: Set<DeviceID> = []
        var barred: Set<DeviceID> = []
        while true {
            let limits = past.filter { !restored.contains($0.key) }
            let cutoffs = evaluate(statements, from: founder, limits)
            let anew = admittedAnew(statements, within: cutoffs, limits)
            let owners = Set(anew.filter { $0.value.role == .owner }.keys)
            let new = owners.subtracting(restored).subtracting(barred)
            let fallen = restored.subtracting(owners)
            if new.isEmpty, fallen.isEmpty {
                for (device, standing) in anew { standings[device] = standing }
                cut(at: cutoffs)
                return Set(anew.keys).subtracting(owners)
            }
            if new.isEmpty {
                restored.subtract(fallen)
                barred.formUnion(fallen)
            } else {
                restored.formUnion(new)
            }
        }
    }

    /// Works out standings and the removals in force, along the greatest role that each device was
    /// ever given; the cut-offs. What each of `limits` stated beyond that does not count.
    private mutating func evaluate(
        _ statements: Set<Statement>, from founder: DeviceID, _ limits: [DeviceID: UInt64]
    ) -> [DeviceID: UInt64] {
        removals = pastRemovals
        while true {
            let cutoffs = Self.cutoffs(statements, removals)
            let within = cutoffs.merging(limits, uniquingKeysWith: min)
            standings = Self.admitted(from: founder, statements, within: within)
            // Each re-admission that counts can only make more of them count: whatever the order,
            // this ends at the same removals.
            if !cancelRemovals(statements, within: within) { return cutoffs }
        }
    }

    /// The standings of members that were removed and admitted anew. Of their admissions those
    /// count that name the most removals: what was before says nothing any more.
    private func admittedAnew(
        _ statements: Set<Statement>, within cutoffs: [DeviceID: UInt64],
        _ limits: [DeviceID: UInt64]
    ) -> [DeviceID: Standing] {
        let within = cutoffs.merging(limits, uniquingKeysWith: min)
        var admissions: [DeviceID: [(named: Set<Digest>, standing: Standing)]] = [:]
        for statement in statements.sorted(by: { $0.hash < $1.hash }) {
            guard case .admission(let device, let role, let cancels) = statement.fact,
                device != statement.author, let known = pastRemovals[device],
                cutoffs[device] == nil,
                standings[device] != nil, standings[statement.author]?.role == .owner,
                Self.isWithin(within, statement)
            else { continue }
            admissions[device, default: []].append(
                (
                    known.intersection(cancels),
                    Standing(role: role, cutoff: nil, admittedBy: statement.author)
                ))
        }
        return admissions.compactMapValues { all in
            all.filter { one in !all.contains { one.named.isStrictSubset(of: $0.named) } }
                .map(\.standing).reduce(nil) { best, next in
                    best.map { $0.role.rank < next.role.rank ? next : $0 } ?? next
                }
        }
    }

    private mutating func cut(at cutoffs: [DeviceID: UInt64]) {
        for (device, cutoff) in cutoffs {
            guard let standing = standings[device] else { continue }
            standings[device] = Standing(
                role: standing.role, cutoff: cutoff, admittedBy: standing.admittedBy)
        }
    }

    /// Evaluates a shared-key space: whoever proves the key for its own id is a member.
    init(statements: Set<Statement>, holdsKey: (DeviceID, _ mac: [UInt8]) -> Bool) {
        for statement in statements {
            guard case .sharedKey(let mac) = statement.fact, holdsKey(statement.author, mac)
            else { continue }
            standings[statement.author] = Standing(role: .member, cutoff: nil, admittedBy: nil)
        }
    }

    var members: [DeviceID] { standings.filter { $0.value.isMember }.keys.sorted() }

    func isMember(_ device: DeviceID) -> Bool { standings[device]?.isMember ?? false }

    func role(of device: DeviceID) -> Role? {
        standings[device].flatMap { $0.isMember ? $0.role : nil }
    }

    /// The owners that are members.
    var owners: Set<DeviceID> {
        Set(standings.filter { $0.value.isMember && $0.value.role == .owner }.keys)
    }

    /// Whether two devices talk to each other.
    func mayTalk(_ one: DeviceID, _ other: DeviceID) -> Bool {
        Role.mayTalk(role(of: one), role(of: other))
    }

    /// Whether what `author` wrote as its change number `counter` counts.
    func counts(author: DeviceID, counter: UInt64) -> Bool {
        guard let standing = standings[author] else { return false }
        return standing.cutoff.map { counter <= $0 } ?? true
    }

    /// Everyone reached from the founder by admissions of owners that `counts` lets through.
    ///
    /// Of several admissions of one device the greatest role by the earliest reached owner
    /// counts: owner before member before sender.
    private static func admitted(
        from founder: DeviceID, _ statements: Set<Statement>, counts: (Statement) -> Bool
    ) -> [DeviceID: Standing] {
        var byAuthor: [DeviceID: [(DeviceID, Role)]] = [:]
        for statement in statements.sorted(by: { $0.hash < $1.hash }) {
            guard case .admission(let device, let role, _) = statement.fact, counts(statement)
            else { continue }
            byAuthor[statement.author, default: []].append((device, role))
        }
        var reached = [founder: Standing(role: .owner, cutoff: nil, admittedBy: nil)]
        var waiting = [founder]
        while let owner = waiting.popLast() {
            for (device, role) in byAuthor[owner] ?? [] {
                let known = reached[device]
                guard known.map({ $0.role.rank < role.rank }) ?? true else { continue }
                reached[device] = Standing(role: role, cutoff: nil, admittedBy: owner)
                if role == .owner { waiting.append(device) }
            }
        }
        return reached
    }

    private static func admitted(
        from founder: DeviceID, _ statements: Set<Statement>, within cutoffs: [DeviceID: UInt64]
    ) -> [DeviceID: Standing] {
        admitted(from: founder, statements) { isWithin(cutoffs, $0) }
    }

    private static func isWithin(_ cutoffs: [DeviceID: UInt64], _ statement: Statement) -> Bool {
        cutoffs[statement.author].map { statement.counter <= $0 } ?? true
    }

    private static func removals(
        _ statements: Set<Statement>, by owners: Set<DeviceID>, before limits: [DeviceID: UInt64]
    ) -> [DeviceID: Set<Digest>] {
        var removals: [DeviceID: Set<Digest>] = [:]
        for statement in statements
        where owners.contains(statement.author) && isWithin(limits, statement) {
            if case .removal(let device, _) = statement.fact {
                removals[device, default: []].insert(statement.hash)
            }
        }
        return removals
    }

    /// Takes out the removals that an admission by a standing owner names; whether there was
    /// one. Nobody takes back a removal of itself: the counter is its own to write.
    private mutating func cancelRemovals(
        _ statements: Set<Statement>, within cutoffs: [DeviceID: UInt64]
    ) -> Bool {
        let before = removals
        for statement in statements where standings[statement.author]?.role == .owner {
            guard case .admission(let device, _, let cancels) = statement.fact,
                device != statement.author, Self.isWithin(cutoffs, statement),
                let known = removals[device]
            else { continue }
            let left = known.subtracting(cancels)
            removals[device] = left.isEmpty ? nil : left
        }
        return removals != before
    }

    private static func cutoffs(
        _ statements: Set<Statement>, _ removals: [DeviceID: Set<Digest>]
    ) -> [DeviceID: UInt64] {
        var cutoffs: [DeviceID: UInt64] = [:]
        for statement in statements {
            guard case .removal(let device, let cutoff) = statement.fact,
                removals[device]?.contains(statement.hash) ?? false
            else { continue }
            cutoffs[device] = min(cutoffs[device] ?? .max, cutoff)
        }
        return cutoffs
    }
}

extension Role {
    fileprivate var rank: Int {
        switch self {
        case .owner: 2
        case .member: 1
        case .sender: 0
        }
    }
}
