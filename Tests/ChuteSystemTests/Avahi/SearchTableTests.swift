import CAvahi
import Testing

@testable import ChuteSystem

struct SearchTableTests {
    private typealias Place = AvahiNotes.Place

    private static func place(
        _ name: String, _ family: Int32 = Int32(AVAHI_PROTO_INET), interface: Int32 = 2
    ) -> Place {
        Place(interface: interface, family: family, name: name.utf8CString.map { $0 })
    }

    private static func sighting(
        _ name: String, _ text: String = "", at host: String = "192.168.1.9"
    ) -> ServiceSighting {
        ServiceSighting(
            name: name, interface: "eth0", address: SocketAddress(host: host, port: 4041),
            host: "h.local", text: [Array(text.utf8)])
    }

    /// A table with what would be open of it.
    private struct Search {
        var table: SearchTable
        var open: Set<Place> = []
        /// How often anything was asked for.
        var asked = 0
        /// What does not matter.
        var strangers: Set<ServiceSighting> = []
        var resting: Set<ServiceSighting> = []

        init(lookups: Int = 4, strangers: Int = 4, places: Int = 100) {
            table = SearchTable(
                limits: .init(lookups: lookups, strangers: strangers, places: places))
        }

        mutating func work() {
            while let step = table.nextStep() {
                switch step {
                case .open(let place):
                    let isNew = open.insert(place).inserted
                    #expect(isNew)
                    asked += 1
                case .close(let place):
                    let closed = open.remove(place)
                    #expect(closed == place)
                }
            }
        }

        mutating func appear(_ names: [String]) {
            for name in names { table.appeared(place(name)) }
            work()
        }

        mutating func find(_ name: String) {
            table.found(sighting(name), at: place(name))
            work()
        }

        /// It answers, and does not matter.
        mutating func findStranger(_ name: String) {
            find(name)
            strangers.insert(sighting(name))
            table.leaveUnwatched(UnwatchedSightings(strangers: strangers, resting: resting))
            work()
        }

        mutating func vanish(_ name: String) {
            table.vanished(place(name))
            work()
        }

        func isOpen(_ name: String) -> Bool { open.contains(place(name)) }
    }

    @Test func `a member among very many strangers is found, and stays`() {
        var search = Search()
        let names = (0..<50).map { "s\($0)" }
        search.appear(Array(names[..<25]) + ["pi"] + Array(names[25...]))
        #expect(search.open.count == 4)
        var rounds = 0
        while let name = (names + ["pi"]).first(where: { search.isOpen($0) && $0 != "pi" }) {
            search.findStranger(name)
            if search.isOpen("pi"), !search.table.seen.contains(Self.sighting("pi")) {
                search.find("pi")
            }
            rounds += 1
            guard rounds < 500 else { break }
        }
        #expect(rounds == 50, "each is asked for once")
        #expect(search.open == [Self.place("pi")], "strangers cost nothing more")
        #expect(search.table.seen.map(\.name) == ["pi", "s46", "s47", "s48", "s49"])
    }

    @Test func `what did not fit is looked at again when there is room`() {
        var search = Search()
        search.appear((0..<6).map { "s\($0)" })
        for name in (0..<6).map({ "s\($0)" }) { search.findStranger(name) }
        #expect(search.table.seen.map(\.name) == ["s2", "s3", "s4", "s5"])
        #expect(search.asked == 6)
        search.vanish("s3")
        #expect(search.isOpen("s0") && search.asked == 7)
        search.findStranger("s0")
        #expect(search.open.isEmpty, "it fits, and the other one waits on")
        #expect(Set(search.table.seen.map(\.name)) == ["s0", "s2", "s4", "s5"])
    }

    @Test func `those that never answer give way to those that were not asked for yet`() {
        var search = Search()
        search.appear((0..<4).map { "mute\($0)" })
        search.appear(["pi"])
        #expect(!search.isOpen("pi"), "the others have a moment to answer")
        search.table.found(nil, at: Self.place("mute2"))
        search.work()
        #expect(search.isOpen("pi") && !search.isOpen("mute2"))
        search.vanish("mute0")
        #expect(search.isOpen("mute2"), "it is asked again once there is room")
    }

    @Test func `a member's place is not taken by those that appear later`() {
        var search = Search(places: 6)
        search.appear(["pi"])
        search.find("pi")
        for number in 0..<40 {
            search.appear(["s\(number)"])
            search.findStranger("s\(number)")
        }
        #expect(search.isOpen("pi"))
        #expect(search.table.seen.map(\.name).contains("pi"))
        search.appear(["bob"])
        #expect(search.isOpen("bob"))
    }

    @Test func `a stranger with the name of a member's service does not end its watch`() {
        var search = Search()
        for (interface, text) in [(Int32(2), "member"), (3, "thief")] {
            let place = Self.place("x", interface: interface)
            search.table.appeared(place)
            search.work()
            search.table.found(Self.sighting("x", text), at: place)
        }
        search.table.leaveUnwatched(
            UnwatchedSightings(strangers: [Self.sighting("x", "thief")]))
        search.work()
        #expect(search.open == [Self.place("x")])
    }

    @Test func `of two families one is watched, and the other when that one goes`() {
        var search = Search()
        let (four, six) = (Self.place("x"), Self.place("x", Int32(AVAHI_PROTO_INET6)))
        for place in [four, six] { search.table.appeared(place) }
        search.work()
        search.table.found(Self.sighting("x"), at: four)
        search.table.found(Self.sighting("x", at: "fe80::9%eth0"), at: six)
        search.work()
        #expect(search.open == [six])
        #expect(search.table.seen.count == 2)
        search.table.vanished(six)
        search.work()
        #expect(search.open == [four])
        // What is a stranger's in one family says nothing of the other.
        search.table.appeared(six)
        search.work()
        search.table.found(Self.sighting("x", "thief", at: "fe80::8%eth0"), at: six)
        search.table.leaveUnwatched(
            UnwatchedSightings(strangers: [Self.sighting("x", "thief", at: "fe80::8%eth0")]))
        search.work()
        #expect(search.open == [four])
    }

    @Test func `who matters later is watched then`() {
        var search = Search()
        search.appear(["s"])
        search.findStranger("s")
        #expect(search.open.isEmpty)
        search.table.leaveUnwatched(UnwatchedSightings())
        search.work()
        #expect(search.isOpen("s"))
    }

    @Test func `a member that need not be watched is kept among very many strangers`() {
        var search = Search()
        search.appear(["pi"])
        search.find("pi")
        search.resting = [Self.sighting("pi")]
        for number in 0..<20 {
            search.appear(["s\(number)"])
            search.findStranger("s\(number)")
        }
        #expect(search.open.isEmpty)
        #expect(search.table.seen.first == Self.sighting("pi"))
        search.table.leaveUnwatched(UnwatchedSightings(strangers: search.strangers))
        search.work()
        #expect(search.open == [Self.place("pi")])
    }

    @Test func `only what is seen is news`() {
        var search = Search()
        var news: [Bool] = []
        search.appear(["s"])
        news.append(search.table.takeIsSeenNew())
        for _ in 0..<2 {
            search.find("s")
            news.append(search.table.takeIsSeenNew())
        }
        search.vanish("s")
        for _ in 0..<2 { news.append(search.table.takeIsSeenNew()) }
        #expect(news == [false, true, false, true, false])
    }

    @Test func `places that come and go leave nothing behind`() {
        var search = Search()
        for number in 0..<1000 {
            search.appear(["s\(number)"])
            search.vanish("s\(number)")
        }
        #expect(search.open.isEmpty && search.table.seen.isEmpty)
        search.appear(["pi"])
        #expect(search.isOpen("pi"))
    }
}
