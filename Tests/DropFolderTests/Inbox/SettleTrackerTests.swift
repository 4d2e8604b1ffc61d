import ChuteSystem
import DropFolder
import Testing

/// A tracker with a clock that the test moves, and a file system of one answer per path.
private struct Desk {
    var tracker = SettleTracker()
    var now = Duration.seconds(1_000_000)
    var answers: [BytePath: SettleTracker.Probe] = [:]
    var settled: [(path: BytePath, note: IngestNote?, at: Duration)] = []
    var probes = 0
    private let start = Duration.seconds(1_000_000)

    /// Lets events in and answers every probe at once.
    mutating func send(_ events: SettleTracker.Event...) {
        var effects = events.flatMap { tracker.handle($0, now: now) }
        while !effects.isEmpty {
            switch effects.removeFirst() {
            case .probe(let path):
                probes += 1
                let answer = answers[path].map { SettleTracker.Event.probed(path, $0) }
                effects += tracker.handle(answer ?? .vanished(path), now: now)
            case .settled(let path, _, let note): settled.append((path, note, now - start))
            case .dropped: break
            }
        }
    }

    /// Moves the clock, stopping at each deadline on the way.
    mutating func pass(_ time: Duration) {
        let end = now + time
        while let next = tracker.nextDeadline, next <= end {
            now = max(now, next)
            send(.timePassed)
        }
        now = end
    }

    mutating func file(
        _ path: BytePath, _ structure: StructureVerdict, _ lease: LeaseState = .free,
        size: UInt64 = 100, modified: Int64 = 5, changed: Int64 = 5
    ) {
        answers[path] = SettleTracker.Probe(
            lease: lease, structure: structure,
            fingerprint: FileFingerprint(
                inode: 1, birth: 1, size: size, modified: modified, changed: changed))
    }
}

struct SettleTrackerTests {
    typealias Arrival = SettleTracker.Arrival

    private static let quietTimes: [(StructureVerdict, LeaseState, Arrival, Int)] = [
        // Structure complete: at once, however it came and whatever the probe could say.
        (StructureVerdict.complete, LeaseState.free, Arrival.created, 0),
        (.complete, .free, .closedWrite, 0), (.complete, .free, .movedTo, 0),
        (.complete, .free, .scanned, 0), (.complete, .unknown, .scanned, 0),
        // Cut, zero or empty: ten seconds, however it came.
        (.cut, .free, .movedTo, 10), (.zeroHead, .free, .closedWrite, 10),
        (.empty, .free, .created, 10), (.cut, .unknown, .scanned, 10),
        // No structure known.
        (.unknown, .free, .movedTo, 0), (.unknown, .free, .closedWrite, 1),
        (.unknown, .free, .created, 3), (.unknown, .free, .scanned, 3),
        (.unknown, .unknown, .movedTo, 10), (.unknown, .unknown, .closedWrite, 10),
    ]

    @Test(arguments: quietTimes)
    func `a quiet file is handed over once, after its time`(
        structure: StructureVerdict, lease: LeaseState, arrival: Arrival, seconds: Int
    ) {
        var desk = Desk()
        desk.file("a", structure, lease)
        desk.send(.seen("a", arrival))
        if seconds > 0 {
            desk.pass(.seconds(seconds) - .milliseconds(1))
            #expect(desk.settled.isEmpty)
        }
        desk.pass(.seconds(60))
        #expect(desk.settled.map(\.path) == ["a"])
        #expect(desk.settled.map(\.at) == [.seconds(seconds)])
        #expect(desk.settled.map(\.note) == [structure.note])
        #expect(desk.tracker.count == 0 && desk.tracker.nextDeadline == nil)
    }

    @Test func `a busy file waits always, then counts from its first free look`() {
        var desk = Desk()
        desk.file("a", .unknown, .busy)
        desk.send(.seen("a", .created))
        desk.pass(.seconds(3600))
        #expect(desk.settled.isEmpty)
        #expect(desk.tracker.reasons.map(\.reason) == [.busy])
        #expect(desk.probes < 3600 / 5 + 5)

        desk.file("a", .unknown, .free)  // a mapping went: no event tells
        desk.pass(.seconds(3) - .milliseconds(1))
        #expect(desk.settled.isEmpty)
        desk.pass(.seconds(6))
        #expect(desk.settled.count == 1)
    }

    @Test func `old times make no file quiet`() {
        var desk = Desk()
        desk.file("a", .unknown, modified: -1, changed: -1)
        desk.send(.seen("a", .scanned))
        #expect(desk.settled.isEmpty)
    }

    // A slowly growing file must not go half way, nor when its writer stalls.
    @Test func `a file that grows without a close is handed over when it rests`() {
        var desk = Desk()
        for step in 1...20 {
            desk.file("a", .cut, size: UInt64(step))
            desk.send(.seen("a", .created), .modified("a"))
            desk.pass(.seconds(4))
        }
        #expect(desk.settled.isEmpty)
        #expect(desk.tracker.reasons.map(\.reason) == [.changing])
        desk.file("a", .complete, size: 21)
        desk.send(.modified("a"), .seen("a", .closedWrite))
        #expect(desk.settled.map(\.note) == [nil])
    }

    // A scanner opens, writes and closes several times.
    @Test func `closing again and again starts the quiet second anew`() {
        var desk = Desk()
        for step in 1...5 {
            desk.file("a", .unknown, size: UInt64(step))
            desk.send(.seen("a", .created), .modified("a"), .seen("a", .closedWrite))
            desk.pass(.milliseconds(800))
        }
        #expect(desk.settled.isEmpty)
        desk.pass(.milliseconds(200))
        #expect(desk.settled.count == 1)

        desk.file("a", .unknown, size: 6)
        desk.send(.modified("a"), .seen("a", .closedWrite))
        desk.pass(.seconds(2))
        #expect(desk.settled.count == 2)
    }

    // An interrupted upload whose second half comes within the ten seconds.
    @Test func `a cut file that is completed is handed over once and without a note`() {
        var desk = Desk()
        desk.file("a", .cut, size: 60)
        desk.send(.seen("a", .created), .seen("a", .closedWrite))
        desk.pass(.seconds(8))
        desk.file("a", .complete, size: 100)
        desk.send(.modified("a"), .seen("a", .closedWrite))
        desk.pass(.seconds(60))
        #expect(desk.settled.count == 1)
        #expect(desk.settled.first?.note == nil)
    }

    @Test func `space is allocated first and filled later`() {
        var desk = Desk()
        desk.file("a", .zeroHead, size: 100)
        desk.send(.seen("a", .created), .seen("a", .closedWrite))
        desk.pass(.seconds(9))
        desk.file("a", .unknown, size: 100, modified: 6, changed: 6)
        desk.send(.modified("a"), .seen("a", .closedWrite))
        desk.pass(.seconds(1))
        #expect(desk.settled.map(\.note) == [nil])
    }

    // A link, and a file made without a name: no close ever comes under this name.
    @Test func `a name that is only created is handed over after three seconds`() {
        var desk = Desk()
        desk.file("a", .unknown)
        desk.send(.seen("a", .created))
        desk.pass(.seconds(3))
        #expect(desk.settled.map(\.path) == ["a"])
    }

    @Test func `both names of an exchange are handed over at once`() {
        var desk = Desk()
        desk.file("a", .unknown)
        desk.file("b", .unknown)
        desk.send(.vanished("a"), .seen("b", .movedTo), .vanished("b"), .seen("a", .movedTo))
        desk.send(.seen("b", .movedTo))
        #expect(Set(desk.settled.map(\.path)) == ["a", "b"])
    }

    // Storage boxes keep touching attributes.
    @Test func `attributes do not start the quiet time anew`() {
        var desk = Desk()
        desk.file("a", .unknown)
        desk.send(.seen("a", .closedWrite))
        for step in 0..<20 {
            desk.file("a", .unknown, changed: Int64(10 + step))
            desk.send(.attributes("a"))
            desk.pass(.milliseconds(100))
        }
        #expect(desk.settled.first?.at == .seconds(1))
    }

    @Test func `a scan that overlaps the events changes nothing`() {
        var desk = Desk()
        desk.file("a", .unknown)
        desk.send(.seen("a", .scanned), .seen("a", .created), .seen("a", .scanned))
        desk.pass(.seconds(1))
        desk.send(.seen("a", .scanned))
        desk.pass(.seconds(60))
        #expect(desk.settled.map(\.at) == [.seconds(3)])
    }

    @Test func `a change that no event told is found by the look at the end`() {
        var desk = Desk()
        desk.file("a", .unknown)
        desk.send(.seen("a", .movedTo))
        #expect(desk.settled.count == 1)
        desk.send(.changedWhileRead("a"))
        desk.pass(.seconds(2))
        desk.file("a", .unknown, modified: 9, changed: 9)
        desk.pass(.seconds(3))
        #expect(desk.settled.count == 1)
        desk.pass(.seconds(1))
        #expect(desk.settled.count == 2)
    }

    @Test func `a file that vanishes is dropped once, and no look at it is left`() {
        var desk = Desk()
        desk.file("a", .cut)
        desk.send(.seen("a", .created))
        let effects = desk.tracker.handle(.vanished("a"), now: desk.now)
        #expect(effects == [.dropped("a")])
        #expect(desk.tracker.handle(.vanished("a"), now: desk.now) == [])
        desk.pass(.seconds(60))
        #expect(desk.probes == 1 && desk.settled.isEmpty)
    }

    @Test func `an answer that was overtaken by a write counts for nothing`() {
        var tracker = SettleTracker()
        let fingerprint = FileFingerprint(inode: 1, birth: 1, size: 1, modified: 1, changed: 1)
        let whole = SettleTracker.Probe(
            lease: .free, structure: .complete, fingerprint: fingerprint)
        #expect(tracker.handle(.seen("a", .closedWrite), now: .zero) == [.probe("a")])
        #expect(tracker.handle(.modified("a"), now: .zero) == [])
        #expect(tracker.handle(.probed("a", whole), now: .zero) == [])
        #expect(tracker.handle(.timePassed, now: .seconds(1)) == [.probe("a")])
        #expect(
            tracker.handle(.probed("a", whole), now: .seconds(1))
                == [.settled("a", fingerprint, note: nil)])
    }

    @Test func `many writes leave one deadline`() {
        var desk = Desk()
        desk.file("a", .unknown, .busy)
        desk.send(.seen("a", .created))
        for _ in 0..<1000 {
            desk.send(.modified("a"))
            desk.pass(.milliseconds(1))
        }
        #expect(desk.probes <= 2)
    }

    @Test func `thousands of files are handed over once each, in the order of their time`() {
        var desk = Desk()
        for index in 0..<5000 {
            desk.file(BytePath("\(index)"), .unknown)
            desk.send(.seen(BytePath("\(index)"), index % 2 == 0 ? .created : .closedWrite))
            desk.pass(.milliseconds(1))
        }
        desk.pass(.seconds(10))
        #expect(desk.settled.count == 5000)
        #expect(Set(desk.settled.map(\.path)).count == 5000)
        #expect(zip(desk.settled, desk.settled.dropFirst()).allSatisfy { $0.at <= $1.at })
    }
}
