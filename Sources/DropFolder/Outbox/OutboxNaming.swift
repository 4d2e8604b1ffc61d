package import ChuteSystem

/// Which names a file may have in an outbox: refuses some, maps some, keeps all others as bytes.
///
/// Deterministic: the same components always give the same name, so that a crash changes nothing.
package struct OutboxNaming: Hashable, Sendable {
    /// Why a path from a peer is not used; the reason code is `name-refused`.
    package enum Refusal: Error, Hashable {
        case absolute, empty, dot, dotDot, nul, separator, tooDeep, tooLong
    }

    package static let maximumDepth = 64
    /// Bytes in one component.
    package static let maximumLength = 255
    /// Bytes in the whole path, with room for the path of the outbox itself.
    package static let maximumPathLength = 3_500

    /// Maps what VFAT and its kin refuse or fold. Set it only where the file system needs it.
    package let isPortable: Bool

    package init(isPortable: Bool = false) { self.isPortable = isPortable }

    /// The components of a path as a peer writes it, empty ones kept, so that they are refused.
    package static func split(_ path: BytePath) -> [[UInt8]] {
        path.bytes.split(separator: BytePath.separator, omittingEmptySubsequences: false)
            .map(Array.init)
    }

    /// The components to use for these.
    package func name(_ components: [[UInt8]]) throws(Refusal) -> [[UInt8]] {
        guard let first = components.first else { throw .empty }
        if first.isEmpty, components.count > 1 { throw .absolute }
        if components.count > Self.maximumDepth { throw .tooDeep }
        var named: [[UInt8]] = []
        for component in components { named.append(try name(component: component)) }
        let length = named.reduce(named.count - 1) { $0 + $1.count }
        if length > Self.maximumPathLength { throw .tooLong }
        return named
    }

    /// The component to use for this one.
    package func name(component: [UInt8]) throws(Refusal) -> [UInt8] {
        if component.isEmpty { throw .empty }
        if component == Array(".".utf8) { throw .dot }
        if component == Array("..".utf8) { throw .dotDot }
        if component.contains(0) { throw .nul }
        if component.contains(BytePath.separator) { throw .separator }
        var name = mapped(component)
        if name.first == UInt8(ascii: ".") { name[0] = UInt8(ascii: "_") }
        if isPortable, Self.isReservedDevice(name) { name.insert(UInt8(ascii: "_"), at: 0) }
        name = Self.shortened(name, to: Self.maximumLength)
        if isPortable, let last = name.last, Self.isTrailing(last) {
            name = Self.cut(name, to: min(name.count - 1, Self.maximumLength - 3))
            name += Self.escaped(last)
        }
        return name
    }

    /// The name to try as the `number`th: itself, then `name (2).ext`, `name (3).ext` and so on.
    ///
    /// Only the last extension counts. The stem is shortened where the suffix needs the room.
    /// A folder's name has no extension.
    package static func candidate(
        _ name: [UInt8], _ number: Int, isFolder: Bool = false
    ) -> [UInt8] {
        if number <= 1 { return name }
        let suffix = Array(" (\(number))".utf8)
        let (stem, ending) = isFolder ? (name, []) : split(name)
        let room = maximumLength - suffix.count - ending.count
        return cut(stem, to: min(stem.count, room)) + suffix + ending
    }

    /// `name` in at most `limit` bytes, cut on a character boundary, its extension kept.
    package static func shortened(_ name: [UInt8], to limit: Int) -> [UInt8] {
        if name.count <= limit { return name }
        let (stem, ending) = split(name)
        return cut(stem, to: limit - ending.count) + ending
    }

    /// Stem and extension, the dot with the extension. What is longer than 32 bytes, or starts
    /// or ends the name, is no extension.
    private static func split(_ name: [UInt8]) -> (stem: [UInt8], ending: [UInt8]) {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0,
            (2...33).contains(name.count - dot)
        else { return (name, []) }
        return (Array(name[..<dot]), Array(name[dot...]))
    }

    /// The first `limit` bytes, less the ones of a UTF-8 character that would be cut in two.
    private static func cut(_ name: [UInt8], to limit: Int) -> [UInt8] {
        guard limit < name.count else { return name }
        for start in stride(from: limit - 1, through: max(0, limit - 3), by: -1) {
            guard let scalar = scalar(in: name[start...]) else { continue }
            return Array(name[..<(start + scalar.width > limit ? start : limit)])
        }
        return Array(name[..<limit])
    }

    /// Control and bidirectional override characters, and what the file system cannot keep, as
    /// `%XX` of their bytes.
    private func mapped(_ component: [UInt8]) -> [UInt8] {
        var name: [UInt8] = []
        var rest = component[...]
        while let byte = rest.first {
            let width: Int
            let isKept: Bool
            if let scalar = Self.scalar(in: rest) {
                width = scalar.width
                isKept = !Self.isControl(scalar.value) && !(isPortable && Self.isFolded(byte))
            } else {
                width = 1
                isKept = !isPortable
            }
            for byte in rest.prefix(width) { name += isKept ? [byte] : Self.escaped(byte) }
            rest = rest.dropFirst(width)
        }
        return name
    }

    /// The UTF-8 character at the start, `nil` where there is none.
    private static func scalar(in bytes: ArraySlice<UInt8>) -> (value: UInt32, width: Int)? {
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
        return (scalar.value, UTF8.encode(scalar)?.count ?? 1)
    }

    private static func isControl(_ value: UInt32) -> Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x202A...0x202E, 0x2066...0x2069: true  // embeddings, overrides, isolates
        default: false
        }
    }

    private static func isFolded(_ byte: UInt8) -> Bool { ":?*\"<>|\\".utf8.contains(byte) }

    private static func isTrailing(_ byte: UInt8) -> Bool { ". ".utf8.contains(byte) }

    private static func isReservedDevice(_ name: [UInt8]) -> Bool {
        var stem = name.prefix { $0 != UInt8(ascii: ".") }.map { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
        }
        while stem.last == UInt8(ascii: " ") { stem.removeLast() }
        if ["CON", "PRN", "AUX", "NUL"].contains(where: { stem.elementsEqual($0.utf8) }) {
            return true
        }
        guard stem.count == 4, let digit = stem.last else { return false }
        let isNumbered = stem.starts(with: "COM".utf8) || stem.starts(with: "LPT".utf8)
        return isNumbered && (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(digit)
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
