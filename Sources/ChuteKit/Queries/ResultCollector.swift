/// Puts what is found into its order, and keeps no more than is wanted.
struct ResultCollector<Element> {
    private struct Entry {
        let key: [UInt8]
        let element: Element
    }

    /// How many are wanted; `nil` for all.
    private let reach: Int?
    /// What has its place.
    private(set) var results: [Element] = []
    /// What is to be sorted after that: where not all are wanted, a heap whose first is the last
    /// in order.
    private var group: [Entry] = []

    init(reach: Int?) { self.reach = reach }

    /// Whether all that is wanted is there.
    var isFull: Bool { reach.map { results.count >= $0 } ?? false }

    /// Adds what comes next.
    mutating func append(_ element: Element) { results.append(element) }

    /// Adds what comes somewhere before the group is closed.
    mutating func insert(_ element: @autoclosure () throws -> Element, key: [UInt8]) rethrows {
        guard let reach else { return group.append(Entry(key: key, element: try element())) }
        if group.count < reach - results.count {
            group.append(Entry(key: key, element: try element()))
            rise(from: group.count - 1)
        } else if let last = group.first, ByteOrder.compare(key, last.key) < 0 {
            group[0] = Entry(key: key, element: try element())
            sink()
        }
    }

    /// Gives what was inserted its place, after what has one.
    mutating func closeGroup() {
        guard !group.isEmpty else { return }
        group.sort { ByteOrder.compare($0.key, $1.key) < 0 }
        for entry in group { results.append(entry.element) }
        group = []
    }

    private func isOrdered(_ parent: Int, _ child: Int) -> Bool {
        ByteOrder.compare(group[parent].key, group[child].key) >= 0
    }

    private mutating func rise(from place: Int) {
        var place = place
        while place > 0, !isOrdered((place - 1) / 2, place) {
            group.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink() {
        var place = 0
        while true {
            var greatest = place
            for child in [2 * place + 1, 2 * place + 2] where child < group.count {
                if !isOrdered(greatest, child) { greatest = child }
            }
            if greatest == place { return }
            group.swapAt(place, greatest)
            place = greatest
        }
    }
}
