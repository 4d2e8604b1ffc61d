/// Things to be done at a moment, the earliest first: a binary heap.
struct DeadlineQueue<Item: Sendable>: Sendable {
    private var heap: [(moment: Duration, item: Item)] = []

    var earliest: Duration? { heap.first?.moment }

    mutating func insert(_ item: Item, at moment: Duration) {
        heap.append((moment, item))
        var child = heap.count - 1
        while child > 0, heap[child].moment < heap[(child - 1) / 2].moment {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes out the earliest, if it is due.
    mutating func popDue(now: Duration) -> (moment: Duration, item: Item)? {
        guard let first = heap.first, first.moment <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].moment < heap[least].moment {
                least = child
            }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
