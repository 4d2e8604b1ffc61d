import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

struct MembershipTests {
    /// Devices by a letter, and facts with a counter for each author.
    private struct Facts {
        private static let keys: [Character: [UInt8]] = Dictionary(
            uniqueKeysWithValues: "ABCDEFGH".map { ($0, Array("key \($0)".utf8)) })
        static let nonce = [UInt8](repeating: 9, count: 32)
        let space = SpaceID.founded(by: keys["A"] ?? [], nonce: nonce)
        private(set) var all: Set<Membership.Statement> = []
        private var counters: [Character: UInt64] = [:]

        init() { _ = add("A", .founding(nonce: Self.nonce)) }

        static func device(_ name: Character) -> DeviceID {
            DeviceID(publicKey: keys[name] ?? [])
        }

        func counter(_ name: Character) -> UInt64 { counters[name] ?? 0 }

        @discardableResult
        mutating func add(
            _ author: Character, _ fact: MemberFact, counter: UInt64? = nil
        ) -> Digest {
            counters[author, default: 0] += 1
            let counter = counter ?? counters[author] ?? 1
            let hash = Digest(
                hashing: [author.asciiValue ?? 0] + fact.cbor.encoded()
                    + CBOR.unsigned(counter).encoded())
            all.insert(
                .init(
                    hash: hash, author: Self.device(author), publicKey: Self.keys[author] ?? [],
                    counter: counter, fact: fact))
            return hash
        }

        @discardableResult
        mutating func admit(
            _ author: Character, _ device: Character, _ role: Role, cancels: [Digest] = []
        ) -> Digest {
            add(
                author,
                .admission(device: Self.device(device), role: role, cancels: cancels))
        }

        @discardableResult
        mutating func remove(_ author: Character, _ device: Character) -> Digest {
            add(
                author, .removal(device: Self.device(device), cutoff: counter(device)))
        }

        var membership: Membership { Membership(space: space, statements: all) }

        var members: String {
            let ids = Set(membership.members)
            return String("ABCDEFGH".filter { ids.contains(Self.device($0)) })
        }
    }

    @Test func `the founder alone is the owner of a new space`() {
        let facts = Facts()
        #expect(facts.members == "A")
        #expect(facts.membership.role(of: Facts.device("A")) == .owner)
    }

    @Test func `another founder's fact founds nothing`() {
        var facts = Facts()
        facts.add("B", .founding(nonce: Facts.nonce))
        #expect(facts.members == "A")
    }

    @Test func `owners admit owners, members admit nobody and remove nobody`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        facts.admit("B", "C", .member)
        facts.admit("C", "D", .member)
        facts.remove("C", "B")
        facts.admit("E", "E", .owner)
        #expect(facts.members == "ABC")
    }

    @Test func `a removed device is out and what hangs on its later admissions falls`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        facts.admit("B", "C", .owner)
        facts.remove("A", "B")
        facts.admit("B", "D", .owner)
        facts.admit("D", "E", .member)
        #expect(facts.members == "AC")
        let membership = facts.membership
        #expect(membership.counts(author: Facts.device("B"), counter: 1))
        #expect(!membership.counts(author: Facts.device("B"), counter: 2))
        #expect(!membership.counts(author: Facts.device("D"), counter: 1))
    }

    @Test func `owners who removed each other are both out`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        facts.admit("A", "C", .owner)
        facts.remove("B", "C")
        facts.remove("C", "B")
        #expect(facts.members == "A")
    }

    @Test func `the lowest cut-off of several removals counts`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        facts.admit("A", "C", .owner)
        facts.add("A", .removal(device: Facts.device("B"), cutoff: 9))
        facts.add("C", .removal(device: Facts.device("B"), cutoff: 4))
        #expect(facts.membership.standings[Facts.device("B")]?.cutoff == 4)
    }

    @Test func `a re-admission must name every removal`() {
        var facts = Facts()
        facts.admit("A", "B", .member)
        facts.admit("A", "C", .owner)
        let first = facts.remove("A", "B")
        let second = facts.remove("C", "B")
        facts.admit("A", "B", .member)
        #expect(facts.members == "AC")
        facts.admit("A", "B", .member, cancels: [first])
        #expect(facts.members == "AC")
        facts.admit("C", "B", .member, cancels: [second])
        #expect(facts.members == "ABC")
    }

    @Test func `an owner who was re-admitted may re-admit others`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        facts.admit("A", "C", .member)
        let ofB = facts.remove("A", "B")
        let ofC = facts.remove("A", "C")
        facts.admit("A", "B", .owner, cancels: [ofB])
        facts.admit("B", "C", .member, cancels: [ofC])
        #expect(facts.members == "ABC")
    }

    @Test func `a removed owner does not come back by an owner of its own making`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        let removal = facts.remove("A", "B")
        facts.admit("B", "D", .owner)
        facts.admit("D", "B", .owner, cancels: [removal])
        #expect(facts.members == "A")
    }

    @Test func `a removed owner does not cancel its own removal by a counter set back`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        facts.admit("B", "C", .member)
        let removal = facts.remove("A", "B")
        facts.add(
            "B",
            .admission(device: Facts.device("B"), role: .owner, cancels: [removal]), counter: 1)
        #expect(facts.members == "AC")
    }

    @Test func `an admission to a greater role counts, to a lesser one does not`() {
        var facts = Facts()
        facts.admit("A", "B", .member)
        facts.admit("A", "B", .owner)
        facts.admit("A", "B", .sender)
        #expect(facts.membership.role(of: Facts.device("B")) == .owner)
    }

    @Test func `whoever was removed and is admitted anew has the role that it is given then`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        facts.admit("A", "C", .member)
        facts.admit("B", "D", .member)
        let ofB = facts.remove("A", "B")
        let ofC = facts.remove("A", "C")
        facts.admit("A", "B", .member, cancels: [ofB])
        facts.admit("A", "C", .sender, cancels: [ofC])
        #expect(facts.members == "ABCD")
        #expect(facts.membership.role(of: Facts.device("B")) == .member)
        #expect(facts.membership.role(of: Facts.device("C")) == .sender)
        // What it stated as an owner counts, what it states since does not.
        facts.admit("B", "E", .member)
        let ofD = facts.remove("B", "D")
        facts.admit("B", "B", .owner, cancels: [ofB])
        #expect(facts.members == "ABCD")
        #expect(facts.membership.role(of: Facts.device("B")) == .member)
        _ = ofD
        // And upwards again, by an admission that knows of the removal.
        facts.admit("A", "C", .member)
        #expect(facts.membership.role(of: Facts.device("C")) == .sender)
        facts.admit("A", "C", .member, cancels: [ofC])
        #expect(facts.membership.role(of: Facts.device("C")) == .member)
    }

    @Test func `a former owner does not become one again by an owner of its own making`() {
        var facts = Facts()
        facts.admit("A", "B", .owner)
        facts.admit("B", "D", .owner)
        let removal = facts.remove("A", "B")
        facts.admit("A", "B", .member, cancels: [removal])
        facts.admit("B", "E", .owner)
        facts.admit("E", "B", .owner, cancels: [removal])
        #expect(facts.members == "ABD")
        #expect(facts.membership.role(of: Facts.device("B")) == .member)
        // By one that it let in while it was an owner itself, it does.
        facts.admit("D", "B", .owner, cancels: [removal])
        #expect(facts.membership.role(of: Facts.device("B")) == .owner)
        #expect(facts.members == "ABDE")
    }

    @Test(arguments: 0..<100)
    func `any facts give the same members in whatever order they come`(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var facts = Facts()
        var removals: [Digest] = []
        for _ in 0..<40 {
            guard let author = "ABCDE".randomElement(using: &random),
                let device = "ABCDEFGH".randomElement(using: &random),
                let role = Role.allCases.randomElement(using: &random)
            else { continue }
            if Int.random(in: 0..<4, using: &random) == 0 {
                removals.append(facts.remove(author, device))
            } else {
                let cancels = removals.filter { _ in Bool.random(using: &random) }
                facts.admit(author, device, role, cancels: cancels)
            }
        }
        let expected = facts.membership
        for _ in 0..<3 {
            var other: Set<Membership.Statement> = []
            for statement in facts.all.shuffled(using: &random) { other.insert(statement) }
            #expect(Membership(space: facts.space, statements: other) == expected)
        }
        // Nobody is a member but along admissions by owners that stand, up to their cut-offs.
        for (device, standing) in expected.standings {
            guard let admitter = standing.admittedBy else {
                #expect(device == Facts.device("A"))
                continue
            }
            #expect(expected.pastOwners.contains(admitter), "seed \(seed)")
        }
        // Whoever an owner removed, and nobody took back, is out.
        for (device, hashes) in expected.removals where !hashes.isEmpty {
            #expect(!expected.isMember(device))
        }
    }

    @Test func `in a shared-key space whoever proves the key for itself is a member`() {
        let key = SharedKey.test()
        let (one, two) = (Facts.device("A"), Facts.device("B"))
        func statement(_ author: DeviceID, _ mac: [UInt8]) -> Membership.Statement {
            .init(
                hash: Digest(hashing: mac + author.digest.bytes), author: author, publicKey: [],
                counter: 1, fact: .sharedKey(mac: mac))
        }
        let proof = key.memberProof(of: one)
        let membership = Membership(statements: [statement(one, proof), statement(two, proof)]) {
            key.isMemberProof($1, of: $0)
        }
        #expect(membership.members == [one])
        #expect(membership.role(of: one) == .member)
        #expect(SharedKey.test(8).memberProof(of: one) != proof)
    }
}
