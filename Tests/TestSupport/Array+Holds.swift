extension [UInt8] {
    /// Whether these bytes lie somewhere in it.
    package func holds(_ part: [UInt8]) -> Bool {
        guard let first = part.first, count >= part.count else { return false }
        var start = startIndex
        while let found = self[start...].firstIndex(of: first), found + part.count <= count {
            if self[found..<(found + part.count)].elementsEqual(part) { return true }
            start = found + 1
        }
        return false
    }
}
