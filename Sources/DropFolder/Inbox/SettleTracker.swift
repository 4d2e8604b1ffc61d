package import ChuteSystem

/// Decides when a file that appeared is whole.
///
/// First a probe (does somebody write?) and a look at the structure, then quiet time. A busy
/// file waits, always. A complete structure counts at once, however the file came. Quiet is
/// counted from our own first look at the present content, never from the file's times: `cp -p`
/// makes old ones.
///
/// A value without I/O or clock: `now` is monotonic, from any origin.
package struct SettleTracker: Sendable {
    /// How long a file has to be quiet.
    package struct Patience: Sendable {
        /// After a writer closed it, where nothing is known of its structure.
        package var closed: Duration = .seconds(1)
        /// After it was only created or found by a scan: a writer may come back.
        package var created: Duration = .seconds(3)
        /// Where the probe could not say whether somebody writes.
        package var unprobed: Duration = .seconds(10)
        /// Where the structure is cut, the head zero, or the file empty.
        package var suspect: Duration = .seconds(10)
        /// Between two looks at a busy file: the first and, doubling, the longest pause.
        package var busyPause: ClosedRange<Duration> = .seconds(1) ... .seconds(5)

        package init() {}
    }

    /// How a name came.
    package enum Arrival: Hashable, Sendable {
        case created, closedWrite, movedTo, scanned
    }

    package enum Event: Hashable, Sendable {
        case seen(BytePath, Arrival)
        case modified(BytePath)
        /// Mode, owner, times or links.
        case attributes(BytePath)
        /// Gone, renamed, or no longer to be shared.
        case vanished(BytePath)
        /// The answer to `probe`.
        case probed(BytePath, Probe)
        /// It was settled, but was another when it was read.
        case changedWhileRead(BytePath)
        /// `nextDeadline` may be over.
        case timePassed
    }

    /// What one look at a file found.
    package struct Probe: Hashable, Sendable {
        package var lease: LeaseState
        /// Not looked at while `lease` is busy.
        package var structure: StructureVerdict
        package var fingerprint: FileFingerprint

        package init(
            lease: LeaseState, structure: StructureVerdict, fingerprint: FileFingerprint
        ) {
            self.lease = lease
            self.structure = structure
            self.fingerprint = fingerprint
        }
    }

    package enum Effect: Hashable, Sendable {
        /// Look at it and answer with `probed` or, where there is nothing to share, `vanished`.
        case probe(BytePath)
        /// It is whole: read it, and compare the fingerprint before and after.
        case settled(BytePath, FileFingerprint, note: IngestNote?)
        /// It went before it was whole.
        case dropped(BytePath)
    }

    private struct Waiting: Sendable {
        var arrival: Arrival
        var quietSince: Duration
        var fingerprint: FileFingerprint?
        var isProbing = false
        /// Something happened since the running probe began: its answer counts for nothing.
        var isOutdated = false
        var nextLook: Duration?
        /// When `deadlines` will name this file; others of its items are stale.
        var queuedAt: Duration?
        var busyPause: Duration
        var isBusy = false
        var hasChanged = false
    }

    private let patience: Patience
    private var waiting: [BytePath: Waiting] = [:]
    private var deadlines = DeadlineQueue<BytePath>()

    package init(patience: Patience = Patience()) { self.patience = patience }

    /// When to come back with `timePassed`, if nothing happens before.
    package var nextDeadline: Duration? { deadlines.earliest }

    /// How many files are not decided yet.
    package var count: Int { waiting.count }

    /// Why files are still waiting: `busy` or `changing`. Those that merely are new are left out.
    package var reasons: [(path: BytePath, reason: SkipReason)] {
        waiting.compactMap { path, file in
            file.isBusy ? (path, .busy) : file.hasChanged ? (path, .changing) : nil
        }
    }

    package mutating func handle(_ event: Event, now: Duration) -> [Effect] {
        switch event {
        case .seen(let path, let arrival): see(path, arrival, now)
        case .modified(let path): modify(path, now)
        case .attributes(let path):
            // One who waits is looked at anyway; others may have become readable.
            waiting[path] == nil ? begin(path, .scanned, now) : []
        case .vanished(let path): waiting.removeValue(forKey: path) == nil ? [] : [.dropped(path)]
        case .probed(let path, let probe): judge(path, probe, now)
        case .changedWhileRead(let path): begin(path, .created, now)
        case .timePassed: lookAtDue(now)
        }
    }

    private mutating func begin(
        _ path: BytePath, _ arrival: Arrival, _ now: Duration
    ) -> [Effect] {
        waiting[path] = Waiting(
            arrival: arrival, quietSince: now, busyPause: patience.busyPause.lowerBound)
        return look(at: path, when: now, now)
    }

    private mutating func see(_ path: BytePath, _ arrival: Arrival, _ now: Duration) -> [Effect] {
        guard var file = waiting[path] else { return begin(path, arrival, now) }
        switch arrival {
        case .created, .scanned:
            return []  // a scan and its events overlap
        case .closedWrite, .movedTo:
            file.arrival = arrival
            file.quietSince = now
            if arrival == .movedTo { file.fingerprint = nil }
            waiting[path] = file
            return look(at: path, when: now, now)
        }
    }

    private mutating func modify(_ path: BytePath, _ now: Duration) -> [Effect] {
        guard var file = waiting[path] else { return begin(path, .created, now) }
        // Somebody writes, whatever came before; the end of it is told by a close, or by quiet.
        file.arrival = .created
        file.quietSince = now
        file.hasChanged = file.hasChanged || file.fingerprint != nil
        waiting[path] = file
        return look(at: path, when: now + patience.busyPause.lowerBound, now)
    }

    private mutating func judge(_ path: BytePath, _ probe: Probe, _ now: Duration) -> [Effect] {
        guard var file = waiting[path], file.isProbing else { return [] }
        file.isProbing = false
        if file.isOutdated {
            file.isOutdated = false
            waiting[path] = file
            return look(at: path, when: file.nextLook ?? now, now)
        }
        if probe.lease == .busy {
            file.isBusy = true
            file.fingerprint = probe.fingerprint
            let pause = file.busyPause
            file.busyPause = min(pause * 2, patience.busyPause.upperBound)
            waiting[path] = file
            return look(at: path, when: now + pause, now)
        }
        let isOther = file.fingerprint.map { !$0.hasSameContentTimes(as: probe.fingerprint) }
        if file.isBusy || isOther ?? true {
            // The first look at this content.
            file.quietSince = now
            if isOther == true {
                file.hasChanged = !file.isBusy
                if file.arrival == .movedTo { file.arrival = .created }
            }
        }
        file.isBusy = false
        file.busyPause = patience.busyPause.lowerBound
        file.fingerprint = probe.fingerprint
        waiting[path] = file
        let end = file.quietSince + quiet(for: probe, arrival: file.arrival)
        if end > now { return look(at: path, when: end, now) }
        waiting[path] = nil
        return [.settled(path, probe.fingerprint, note: probe.structure.note)]
    }

    private func quiet(for probe: Probe, arrival: Arrival) -> Duration {
        switch probe.structure {
        case .complete: return .zero
        case .cut, .zeroHead, .empty: return patience.suspect
        case .unknown: break
        }
        if probe.lease == .unknown { return patience.unprobed }
        return switch arrival {
        case .movedTo: .zero
        case .closedWrite: patience.closed
        case .created, .scanned: patience.created
        }
    }

    /// Looks now or notes when to look; a file in the middle of a probe is looked at after it.
    private mutating func look(
        at path: BytePath, when moment: Duration, _ now: Duration
    ) -> [Effect] {
        guard var file = waiting[path] else { return [] }
        defer { waiting[path] = file }
        if file.isProbing {
            file.isOutdated = true
            file.nextLook = moment
            return []
        }
        if moment <= now {
            file.isProbing = true
            file.nextLook = nil
            return [.probe(path)]
        }
        file.nextLook = moment
        if file.queuedAt.map({ $0 > moment }) ?? true {
            // A later moment waits for the item that is queued already: many writes, one item.
            file.queuedAt = moment
            deadlines.insert(path, at: moment)
        }
        return []
    }

    private mutating func lookAtDue(_ now: Duration) -> [Effect] {
        var effects: [Effect] = []
        while let (moment, path) = deadlines.popDue(now: now) {
            guard waiting[path]?.queuedAt == moment else { continue }
            waiting[path]?.queuedAt = nil
            guard let next = waiting[path]?.nextLook, waiting[path]?.isProbing == false else {
                continue
            }
            effects += look(at: path, when: next, now)
        }
        return effects
    }
}
