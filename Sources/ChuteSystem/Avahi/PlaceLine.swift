/// A line in which places wait. Who left it goes on standing in it, by a number that is its no more.
struct PlaceLine {
    private var places: [(place: AvahiNotes.Place, number: UInt64)] = []
    private var start = 0

    /// Those who left included.
    var count: Int { places.count - start }

    var first: (place: AvahiNotes.Place, number: UInt64)? {
        start < places.count ? places[start] : nil
    }

    mutating func append(_ place: AvahiNotes.Place, _ number: UInt64) {
        places.append((place, number))
    }

    mutating func removeFirst() {
        start += 1
        if start * 2 > places.count {
            places.removeFirst(start)
            start = 0
        }
    }

    /// Removes those who left.
    mutating func keep(_ isStanding: (AvahiNotes.Place, UInt64) -> Bool) {
        places = places[start...].filter { isStanding($0.place, $0.number) }
        start = 0
    }
}
