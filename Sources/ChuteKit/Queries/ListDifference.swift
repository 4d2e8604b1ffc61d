/// What tells two lists of documents apart: see `LiveQueryUpdate`. A value without I/O.
struct ListDifference: Hashable, Sendable {
    var insertions: [Int] = []
    var deletions: [Int] = []
    var updates: [Int] = []
    var moves: [LiveQueryUpdate.Move] = []

    var isEmpty: Bool {
        insertions.isEmpty && deletions.isEmpty && updates.isEmpty && moves.isEmpty
    }

    private init() {}

    /// Of any two lists, with as few moves as can be. Looks at all documents of both.
    init(from old: DocumentList, to new: DocumentList) {
        var oldIndexes: [ArraySlice<UInt8>: Int] = [:]
        oldIndexes.reserveCapacity(old.count)
        old.forEach { oldIndexes[$1.idBytes] = $0 }
        var kept: [LiveQueryUpdate.Move] = []
        new.forEach { index, document in
            guard let from = oldIndexes.removeValue(forKey: document.idBytes) else {
                insertions.append(index)
                return
            }
            if !document.hasContent(of: old[from]) { updates.append(index) }
            kept.append(.init(from: from, to: index))
        }
        deletions = oldIndexes.values.sorted()
        moves = Self.moved(kept)
    }

    /// Of a list in which some documents became others, each with the same id or none, and what it
    /// then is. Looks at these alone.
    init(
        from old: DocumentList, to new: DocumentList,
        changes: [(old: StoredDocument?, new: StoredDocument?)]
    ) {
        // Those that have another key; what is between them stays as it is.
        var leaving: [(index: Int, isKept: Bool)] = []
        var coming: [(index: Int, from: Int?)] = []
        for change in changes {
            let from = change.old.flatMap { old.index(of: $0.key) }
            let to = change.new.flatMap { new.index(of: $0.key) }
            switch (from, to) {
            case (let from?, let to?):
                if let old = change.old, change.new?.hasContent(of: old) == false {
                    updates.append(to)
                }
                if change.old?.key != change.new?.key {
                    leaving.append((from, true))
                    coming.append((to, from))
                }
            case (let from?, nil):
                deletions.append(from)
                leaving.append((from, false))
            case (nil, let to?):
                insertions.append(to)
                coming.append((to, nil))
            case (nil, nil): break
            }
        }
        insertions.sort()
        deletions.sort()
        updates.sort()
        moves = Self.moved(
            leaving.sorted { $0.index < $1.index }, coming.sorted { $0.index < $1.index })
    }

    /// Which of those that have another key changed places among all others.
    ///
    /// Those that have their key have their order. One of the others changed places where it is
    /// between two others of those now, or where it is on another side of its like there.
    private static func moved(
        _ leaving: [(index: Int, isKept: Bool)], _ coming: [(index: Int, from: Int?)]
    ) -> [LiveQueryUpdate.Move] {
        // How many of those that have their key come before each, in the old and in the new list.
        var oldGap: [Int: Int] = [:]
        for (place, leaver) in leaving.enumerated() { oldGap[leaver.index] = leaver.index - place }
        var moves: [LiveQueryUpdate.Move] = []
        var gap: [LiveQueryUpdate.Move] = []
        var current = -1
        for (place, comer) in coming.enumerated() {
            guard let from = comer.from else { continue }
            let newGap = comer.index - place
            if newGap != current {
                moves += moved(gap)
                gap = []
                current = newGap
            }
            let move = LiveQueryUpdate.Move(from: from, to: comer.index)
            if oldGap[from] == newGap { gap.append(move) } else { moves.append(move) }
        }
        moves += moved(gap)
        return moves.sorted { $0.to < $1.to }
    }

    /// All of `kept`, which are in their new order, but a longest row that is in its old order too.
    private static func moved(_ kept: [LiveQueryUpdate.Move]) -> [LiveQueryUpdate.Move] {
        if zip(kept, kept.dropFirst()).allSatisfy({ $0.from < $1.from }) { return [] }
        // ends[n]: the place in `kept` of the least possible end of a rising row of n + 1.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: kept.count)
        for (place, move) in kept.enumerated() {
            let length = ends.partitioningIndex { kept[$0].from >= move.from }
            before[place] = length > 0 ? ends[length - 1] : nil
            if length == ends.count { ends.append(place) } else { ends[length] = place }
        }
        var stays = [Bool](repeating: false, count: kept.count)
        var next = ends.last
        while let place = next {
            stays[place] = true
            next = before[place]
        }
        return zip(kept, stays).compactMap { $1 ? nil : $0 }
    }
}
