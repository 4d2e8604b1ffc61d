/// Finds what somebody probably meant.
package enum Spelling {
    /// The known word nearest to `word`, if one is near enough to suggest.
    package static func nearest(to word: String, among known: some Sequence<String>) -> String? {
        let reach = max(1, min(3, word.count / 2))
        var best: (word: String, distance: Int)?
        for candidate in known {
            let distance = distance(word.lowercased(), candidate.lowercased())
            if distance <= reach, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.word
    }

    /// How many characters are added, left out, replaced, or swapped with the next one.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.prefix(64))
        let right = Array(right.prefix(64))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                var cost = min(last[column + 1] + 1, current[column] + 1)
                cost = min(cost, last[column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
