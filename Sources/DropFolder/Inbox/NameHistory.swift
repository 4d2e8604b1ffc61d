package import ChuteSystem

/// Remembers what became of names, as long as that decides between a version and a new document.
///
/// A name goes on when its file is replaced by a rename in one step, or is renamed aside within
/// the inbox and the name is taken again within a quiet second: so editors save. A name that
/// stood empty otherwise starts anew.
package struct NameHistory: Sendable {
    package enum Continuity: Hashable, Sendable {
        /// Nothing happened to the name: only its bytes may have changed.
        case undisturbed
        /// A file was renamed over it, if there was one.
        case replacedByRename
        /// Its file was renamed aside and another took the name within the quiet second.
        case takenAgain
        /// It was seen empty.
        case seenAbsent
    }

    package enum Event: Hashable, Sendable {
        case created(BytePath)
        case movedTo(BytePath, cookie: UInt32)
        case movedFrom(BytePath, cookie: UInt32)
        case deleted(BytePath)
        /// A look found nothing of this name.
        case missing(BytePath)
    }

    private struct Absence: Sendable {
        let since: Duration
        /// Where the file went within the inbox.
        var target: BytePath?
        /// What held before; a broken name stays broken.
        let before: Continuity
    }

    private enum State: Sendable {
        case present(Continuity)
        case absent(Absence)
    }

    private let quiet: Duration
    private var names: [BytePath: State] = [:]
    /// First halves of renames whose second half may follow.
    private var leaving: [UInt32: BytePath] = [:]
    private var deadlines = DeadlineQueue<BytePath>()

    package init(quiet: Duration = .seconds(1)) { self.quiet = quiet }

    package mutating func handle(_ event: Event, now: Duration) {
        switch event {
        case .created(let path): occupy(path, isRename: false, now)
        case .movedFrom(let path, let cookie):
            leave(path, now)
            if leaving.count > 1024 { leaving = [:] }  // halves whose files left the inbox
            leaving[cookie] = path
        case .movedTo(let path, let cookie):
            let source = leaving.removeValue(forKey: cookie)
            if let source { noteTarget(of: source, path) }
            let formerWent = occupy(path, isRename: true, now)
            if let source, source == formerWent { noteExchange(source) }
        case .deleted(let path), .missing(let path): leave(path, now)
        }
    }

    /// How the file that has the name came by it, since the last `forget`.
    package func continuity(of path: BytePath) -> Continuity {
        switch names[path] {
        case nil: .undisturbed
        case .present(let continuity): continuity
        // Who asks has a file of this name: how it came is in events that are still to come.
        case .absent: .undisturbed
        }
    }

    /// Since when the name stands empty; `nil` when it does not.
    package func absence(of path: BytePath) -> Duration? {
        if case .absent(let absence) = names[path] { return absence.since }
        return nil
    }

    /// A decision was taken and is in the row: what led to it counts no more.
    package mutating func forget(_ path: BytePath) {
        if case .present = names[path] { names[path] = nil }
    }

    /// When `takeAbsent` will have something.
    package var nextDeadline: Duration? { deadlines.earliest }

    /// Names that stood empty for the quiet time: their rows are to say so. Forgets them.
    package mutating func takeAbsent(now: Duration) -> [BytePath] {
        var gone: [BytePath] = []
        while let (moment, path) = deadlines.popDue(now: now) {
            guard case .absent(let absence) = names[path], absence.since + quiet == moment else {
                continue
            }
            names[path] = nil
            gone.append(path)
        }
        return gone
    }

    private mutating func leave(_ path: BytePath, _ now: Duration) {
        var before = Continuity.undisturbed
        switch names[path] {
        case .absent: return
        case .present(let continuity): before = continuity
        case nil: break
        }
        names[path] = .absent(Absence(since: now, target: nil, before: before))
        deadlines.insert(path, at: now + quiet)
    }

    private mutating func noteTarget(of source: BytePath, _ target: BytePath) {
        guard case .absent(var absence) = names[source] else { return }
        absence.target = target
        names[source] = .absent(absence)
    }

    /// Gives back where the former file of the name went, if the name goes on after that.
    @discardableResult
    private mutating func occupy(
        _ path: BytePath, isRename: Bool, _ now: Duration
    ) -> BytePath? {
        switch names[path] {
        case .absent(let absence):
            let goesOn =
                absence.target != nil && now - absence.since <= quiet
                && absence.before != .seenAbsent
            names[path] = .present(goesOn ? .takenAgain : .seenAbsent)
            return goesOn ? absence.target : nil
        case .present(.seenAbsent): return nil
        case .present, nil:
            if isRename { names[path] = .present(.replacedByRename) }
            return nil
        }
    }

    /// Two names that swapped their files: the last event says that the second one left, yet it
    /// has the first one's file.
    private mutating func noteExchange(_ source: BytePath) {
        guard case .absent(let absence) = names[source], absence.before != .seenAbsent else {
            return
        }
        names[source] = .present(.takenAgain)
    }
}
