import ChuteSystem

/// Reading single values: each reports what is wrong and returns `nil`, and the reading goes on.
extension ConfigurationReader {
    mutating func report(_ position: TOMLPosition, _ message: String) {
        problems.append(ConfigurationProblem(position: position, message: message))
    }

    mutating func report(_ entry: TOMLEntry, _ message: String) {
        report(entry.value.position, message)
    }

    mutating func notice(_ entry: TOMLEntry, _ message: String) {
        notices.append(ConfigurationProblem(position: entry.position, message: message))
    }

    mutating func unknown(_ entry: TOMLEntry, _ what: String, among known: [String]) {
        let hint =
            Spelling.nearest(to: entry.key, among: known).map { "did you mean \($0)?" }
            ?? "expected one of " + known.joined(separator: ", ")
        report(entry.position, "\(entry.key) is an unknown \(what), \(hint)")
    }

    private mutating func expected(_ what: String, for key: String, found value: TOMLValue) {
        report(value.position, "\(key) is \(value.kind), expected \(what)")
    }

    mutating func table(_ entry: TOMLEntry) -> [TOMLEntry] {
        if case .table(let entries) = entry.value.content { return entries }
        expected("a section", for: entry.key, found: entry.value)
        return []
    }

    /// The tables of `[[key]]`.
    mutating func tables(_ entry: TOMLEntry) -> [[TOMLEntry]] {
        guard case .array(let values) = entry.value.content else {
            let what = "[[\(entry.key)]] with two brackets, since there may be several"
            expected(what, for: entry.key, found: entry.value)
            return []
        }
        return values.compactMap { value in
            if case .table(let entries) = value.content { return entries }
            expected("a section [[\(entry.key)]]", for: entry.key, found: value)
            return nil
        }
    }

    mutating func list(_ entry: TOMLEntry) -> [TOMLValue] {
        if case .array(let values) = entry.value.content { return values }
        expected("a list in brackets", for: entry.key, found: entry.value)
        return []
    }

    mutating func string(_ entry: TOMLEntry) -> String? { string(entry.value, for: entry.key) }

    mutating func string(_ value: TOMLValue, for key: String) -> String? {
        if case .string(let text) = value.content { return text }
        expected("a string in quotes", for: key, found: value)
        return nil
    }

    mutating func boolean(_ entry: TOMLEntry) -> Bool? {
        if case .boolean(let isOn) = entry.value.content { return isOn }
        expected("true or false", for: entry.key, found: entry.value)
        return nil
    }

    mutating func choice<Word: RawRepresentable & CaseIterable>(
        _ entry: TOMLEntry, _: Word.Type
    ) -> Word? where Word.RawValue == String {
        guard let text = string(entry) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let known = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
        report(entry, "\(entry.key) is \"\(text)\", expected \(known)")
        return nil
    }

    mutating func size(_ entry: TOMLEntry) -> UInt64? {
        switch entry.value.content {
        case .integer(let count) where count >= 0: return UInt64(count)
        case .string(let text):
            if let count = ByteCount.parse(text) { return count }
            report(
                entry, "\"\(text)\" is no size, expected \"500 MB\", \"4 GiB\" or bytes")
        default:
            expected("a size such as \"4 GiB\"", for: entry.key, found: entry.value)
        }
        return nil
    }

    /// A size in which 0 means that there is no limit.
    mutating func limit(_ entry: TOMLEntry) -> UInt64? {
        size(entry).flatMap { $0 == 0 ? nil : $0 }
    }

    /// A path: `~` and `$HOME` in front are expanded, a relative one starts at the file's folder.
    mutating func path(_ entry: TOMLEntry) -> BytePath? {
        guard let text = string(entry) else { return nil }
        if text.isEmpty || text.utf8.contains(0) {
            report(entry, "\(entry.key) is \"\(text)\", expected the path of a folder or file")
            return nil
        }
        var rest = text
        for prefix in ["~", "$HOME", "${HOME}"]
        where text == prefix || text.hasPrefix(prefix + "/") {
            guard let userFolder else {
                report(entry, "\(prefix) is unknown here, expected a path from the top or HOME set")
                return nil
            }
            rest.removeFirst(prefix.count)
            return userFolder.appending(BytePath(rest.drop { $0 == "/" }.description))
                .absolute(from: folder)
        }
        if text.hasPrefix("~") || text.hasPrefix("$") {
            report(
                entry,
                "\"\(text)\" cannot be expanded, expected ~/ or $HOME/ in front, or ./ for a name "
                    + "that begins with this character")
            return nil
        }
        return BytePath(text).absolute(from: folder)
    }
}
