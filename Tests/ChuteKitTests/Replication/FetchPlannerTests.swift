import TestSupport
import Testing

@testable import ChuteKit

struct FetchPlannerTests {
    private static func device(_ number: UInt8) -> DeviceID {
        DeviceID(Digest(hashing: [number]))
    }

    private static func attachment(_ number: UInt8, pieces: UInt64) -> AttachmentID {
        guard
            let id = AttachmentID(
                digest: Digest(hashing: [number, 1]),
                byteCount: pieces * UInt64(PieceTree.pieceByteCount))
        else { preconditionFailure("a small count") }
        return id
    }

    private let one = device(1)
    private let two = device(2)

    @Test func `a replaced connection gives back what the old one was asked for`() {
        var planner = FetchPlanner()
        let id = Self.attachment(1, pieces: 1)
        _ = planner.add(id, pieces: 0..<1, needsLayer: false, source: nil)
        #expect(planner.connected(one).count == 1)
        #expect(planner.connected(one).map(\.piece) == [0])
        #expect(planner.inFlightCount == 1)
    }

    @Test func `a restricted peer is asked for nothing but what it may hear of`() {
        var planner = FetchPlanner()
        let (secret, own) = (Self.attachment(1, pieces: 1), Self.attachment(2, pieces: 1))
        _ = planner.add(secret, pieces: 0..<1, needsLayer: false, source: one)
        #expect(planner.connected(one, isRestricted: true).isEmpty)
        #expect(planner.isStalled(secret))
        // Whatever it says that it has.
        #expect(planner.has(Holding(attachment: secret), at: one).isEmpty)
        #expect(
            planner.add(
                own, pieces: 0..<1, needsLayer: false, source: nil, hearers: [one])
                == [.init(peer: one, attachment: own, piece: 0)])
        #expect(planner.allow(one, toHearOf: [secret]).map(\.attachment) == [secret])
        #expect(planner.hearers(of: secret) == [one])
        // As a member it is asked for everything.
        let third = Self.attachment(3, pieces: 1)
        _ = planner.add(third, pieces: 0..<1, needsLayer: false, source: nil)
        #expect(planner.connected(one).map(\.attachment).contains(third))
    }

    @Test func `a source that has another part does not keep others from being asked`() {
        var planner = FetchPlanner()
        let id = Self.attachment(1, pieces: 2)
        _ = planner.connected(one)
        _ = planner.connected(two)
        _ = planner.add(id, pieces: [], needsLayer: false, source: one)
        _ = planner.has(Holding(attachment: id, pieces: [0x80]), at: one)
        #expect(
            planner.reopen([1], of: id) == [.init(peer: two, attachment: id, piece: 1)])
    }

    @Test func `the hashes are asked of another peer, however much of it is on its way`() {
        for leaves in [false, true] {
            var planner = FetchPlanner()
            let id = Self.attachment(1, pieces: 20)
            let (first, second) = (min(one, two), max(one, two))
            _ = planner.connected(first)
            _ = planner.connected(second)
            let asked = planner.add(id, pieces: 0..<20, needsLayer: true, source: nil)
            #expect(asked.first { $0.piece == nil }?.peer == first)
            #expect(asked.filter { $0.peer == second }.count == 8)
            let then =
                leaves ? planner.disconnected(first) : planner.absent(nil, of: id, at: first)
            #expect(then.first { $0.piece == nil }?.peer == second)
            #expect(then.filter { $0.piece == nil }.count == 1)
        }
    }

    @Test func `a holder without the hashes is not asked for them for ever`() {
        var planner = FetchPlanner()
        let id = Self.attachment(1, pieces: 2)
        _ = planner.connected(one)
        _ = planner.has(Holding(attachment: id), at: one)
        var asked = planner.add(id, pieces: 0..<2, needsLayer: true, source: nil)
        _ = planner.has(Holding(attachment: id), at: one)
        for _ in 0..<10 where asked.contains(where: { $0.piece == nil }) {
            asked = planner.absent(nil, of: id, at: one)
        }
        #expect(!asked.contains { $0.piece == nil })
    }

    @Test func `an answer to a request that was taken back changes nothing`() {
        var planner = FetchPlanner(limits: .init(requestsPerPeer: 1))
        let (first, second) = (Self.attachment(1, pieces: 1), Self.attachment(2, pieces: 3))
        _ = planner.connected(one)
        _ = planner.add(first, pieces: 0..<1, needsLayer: false, source: nil)
        _ = planner.remove(first)
        #expect(planner.add(second, pieces: 0..<3, needsLayer: false, source: nil).count == 1)
        #expect(planner.finished(0, of: first, from: one).isEmpty)
        #expect(planner.absent(0, of: first, at: one).isEmpty)
        #expect(planner.inFlightCount == 1)
    }

    @Test func `a peer is asked for more once half of what may be in flight has come`() {
        var planner = FetchPlanner(limits: .init(requestsPerPeer: 4))
        let id = Self.attachment(1, pieces: 8)
        _ = planner.connected(one)
        let asked = planner.add(id, pieces: 0..<8, needsLayer: false, source: nil)
        #expect(asked.compactMap(\.piece) == [0, 1, 2, 3])
        #expect(planner.finished(0, of: id, from: one).isEmpty)
        #expect(planner.finished(1, of: id, from: one).compactMap(\.piece) == [4, 5])
    }

    @Test func `a transfer that ends early makes room for others`() {
        var planner = FetchPlanner(limits: .init(requestsPerPeer: 1))
        let (first, second) = (Self.attachment(1, pieces: 1), Self.attachment(2, pieces: 1))
        _ = planner.connected(one)
        _ = planner.add(first, pieces: 0..<1, needsLayer: false, source: nil)
        #expect(planner.add(second, pieces: 0..<1, needsLayer: false, source: nil).isEmpty)
        #expect(planner.remove(first).map(\.attachment) == [second])
    }

    /// Plays a world in which every peer answers each request with the piece, a wrong piece or
    /// "absent", comes and goes, until in the end one honest holder stays.
    @Test(arguments: 0..<200)
    func `whatever happens, every piece is asked of a holder at last`(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var world = World(
            planner: FetchPlanner(limits: .init(requestsPerPeer: 3, bytesPerPeer: 2 << 20)))
        let peers = (1...4).map { Self.device(UInt8($0)) }
        for number in 0..<Int.random(in: 1...5, using: &random) {
            let id = Self.attachment(
                UInt8(number), pieces: UInt64.random(in: 1...6, using: &random))
            world.add(id, source: Bool.random(using: &random) ? peers[0] : nil)
        }
        for _ in 0..<300 {
            guard let peer = peers.randomElement(using: &random) else { continue }
            switch Int.random(in: 0..<10, using: &random) {
            case 0: world.connect(peer)
            case 1: world.disconnect(peer)
            case 2: world.say(peer, using: &random)
            default: world.answer(peer, using: &random)
            }
        }
        world.disconnect(peers[3])
        world.connect(peers[3])
        while world.answerHonestly(peers[3]) {}
        for peer in peers { world.disconnect(peer) }
        world.connect(peers[0])
        while world.answerHonestly(peers[0]) {}
        #expect(world.missing.isEmpty, "seed \(seed)")
        #expect(world.planner.inFlightCount == 0, "seed \(seed)")
    }

    private struct World {
        var planner: FetchPlanner
        var asked: [DeviceID: [FetchPlanner.Assignment]] = [:]
        var connected: Set<DeviceID> = []
        var missing: [AttachmentID: Set<UInt64?>] = [:]

        mutating func note(_ assignments: [FetchPlanner.Assignment]) {
            for assignment in assignments {
                #expect(connected.contains(assignment.peer))
                asked[assignment.peer, default: []].append(assignment)
            }
        }

        mutating func add(_ id: AttachmentID, source: DeviceID?) {
            let count = id.byteCount / UInt64(PieceTree.pieceByteCount)
            missing[id] = Set((0..<count).map(Optional.some) + (count > 1 ? [nil] : []))
            note(planner.add(id, pieces: 0..<count, needsLayer: count > 1, source: source))
        }

        mutating func connect(_ peer: DeviceID) {
            guard connected.insert(peer).inserted else { return }
            note(planner.connected(peer))
        }

        mutating func disconnect(_ peer: DeviceID) {
            guard connected.remove(peer) != nil else { return }
            asked[peer] = nil
            note(planner.disconnected(peer))
        }

        mutating func say(_ peer: DeviceID, using random: inout SeededGenerator) {
            guard connected.contains(peer), let id = missing.keys.randomElement(using: &random)
            else { return }
            let pieces: [UInt8] = Bool.random(using: &random) ? [] : [UInt8.random(in: 0...255)]
            note(planner.has(Holding(attachment: id, pieces: pieces), at: peer))
        }

        mutating func take(_ peer: DeviceID) -> FetchPlanner.Assignment? {
            guard let first = asked[peer]?.first else { return nil }
            asked[peer]?.removeFirst()
            return first
        }

        mutating func answer(_ peer: DeviceID, using random: inout SeededGenerator) {
            guard let request = take(peer) else { return }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: note(planner.absent(request.piece, of: request.attachment, at: peer))
            case 1:
                note(
                    planner.failed(request.piece, of: request.attachment, from: peer).assignments)
            default: finish(request)
            }
        }

        mutating func finish(_ request: FetchPlanner.Assignment) {
            missing[request.attachment]?.remove(request.piece)
            let isWhole = missing[request.attachment]?.isEmpty ?? false
            note(planner.finished(request.piece, of: request.attachment, from: request.peer))
            guard isWhole else { return }
            missing[request.attachment] = nil
            note(planner.remove(request.attachment))
        }

        mutating func answerHonestly(_ peer: DeviceID) -> Bool {
            guard let request = take(peer) else { return false }
            finish(request)
            return true
        }
    }

    // A laptop whose lid was closed, or a member that wishes no good.
    @Test func `what a mute peer was asked for goes to others, and it is asked last`() {
        var planner = FetchPlanner()
        let (small, big) = (Self.attachment(1, pieces: 1), Self.attachment(2, pieces: 4))
        _ = planner.connected(one)
        _ = planner.add(small, pieces: 0..<1, needsLayer: false, source: one)
        _ = planner.add(big, pieces: 0..<4, needsLayer: true, source: one)
        _ = planner.connected(two)
        // It may still be about to answer.
        #expect(planner.look(brought: [:], owing: [one]).takenBack.isEmpty)
        let (takenBack, assignments) = planner.look(brought: [two: 0], owing: [one])
        #expect(takenBack[one]?.count == 6)
        #expect(assignments.allSatisfy { $0.peer == two })
        #expect(Set(assignments.map(\.attachment)) == [small, big])
        #expect(assignments.count == 6)
        for piece in [nil, 0, 1, 2, 3] as [UInt64?] {
            _ = planner.finished(piece, of: big, from: two)
        }
        // Others are asked before it, unless nobody else has it.
        let third = Self.attachment(3, pieces: 1)
        #expect(
            planner.add(third, pieces: 0..<1, needsLayer: false, source: one).map(\.peer)
                == [two])
        #expect(planner.absent(0, of: third, at: two).map(\.peer) == [one])
        #expect(planner.look(brought: [one: 0, two: 5], owing: [one]).takenBack[one] == nil)
        #expect(planner.look(brought: [one: 0, two: 5], owing: [one]).takenBack[one] == nil)
    }

    @Test func `nothing is taken from a mute peer that nobody else can stand in for`() {
        var planner = FetchPlanner()
        let id = Self.attachment(1, pieces: 3)
        _ = planner.connected(one)
        _ = planner.connected(two)
        _ = planner.add(id, pieces: 0..<3, needsLayer: false, source: one)
        _ = planner.has(Holding(attachment: id, pieces: [0x00]), at: two)
        for _ in 0..<3 { #expect(planner.look(brought: [:], owing: [one]).takenBack.isEmpty) }
    }

    @Test func `a slow peer keeps what it brings, and an idle one gets the rest`() {
        var planner = FetchPlanner()
        let id = Self.attachment(1, pieces: 8)
        _ = planner.connected(one)
        _ = planner.add(id, pieces: 0..<8, needsLayer: false, source: one)
        _ = planner.connected(two)
        let little = PieceTree.pieceByteCount / 2
        _ = planner.look(brought: [one: little], owing: [one])
        let (takenBack, assignments) = planner.look(brought: [one: little], owing: [one])
        #expect(takenBack[one]?.compactMap(\.piece) == Array(1..<8))
        #expect(Set(assignments.compactMap(\.piece)) == Set(1..<8))
        #expect(assignments.allSatisfy { $0.peer == two })
        // While the other one is busy it keeps what it has.
        #expect(
            planner.look(brought: [one: little, two: 9], owing: [one, two]).takenBack[one] == nil)
        // It is asked for no more than it brings.
        #expect(planner.finished(0, of: id, from: one).isEmpty)
    }
}
