/// The way from a document down to one value: the names of maps within maps.
///
/// Arrays are values as a whole: no path leads into them. Names are compared by their bytes.
public struct FieldPath: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral
{
    /// From the outermost name to the innermost; at least one.
    public let names: [String]

    /// The most names that a path may have.
    static let limit = 16

    /// A path of these names.
    public init(_ names: [String]) { self.names = names }

    /// A field of the document itself. A dot is a part of the name.
    public init(stringLiteral name: String) { names = [name] }

    /// A path of these names.
    public init(arrayLiteral names: String...) { self.names = names }

    /// The names, joined by dots, for people.
    public var description: String { names.joined(separator: ".") }

    /// What tells it from all other paths, and of which a path further down has more.
    var key: [[UInt8]] { names.map { Array($0.utf8) } }

    /// By the bytes of the names.
    public static func == (left: Self, right: Self) -> Bool { left.key == right.key }

    /// By the bytes of the names.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension Fields {
    /// The value at the end of a path; `nil` where there is none.
    public subscript(path: FieldPath) -> Value? {
        var names = path.names[...]
        var found = names.popFirst().flatMap { self[$0] }
        while let name = names.popFirst() { found = found?.map?[name] }
        return found
    }

    /// Writes a value at the end of a path, or removes what is there. What is on the way and is
    /// no map becomes one.
    mutating func write(_ value: Value?, at names: ArraySlice<String>) {
        guard let name = names.first else { return }
        guard names.count > 1 else {
            self[name] = value
            return
        }
        var inner = self[name]?.map ?? Fields()
        self[name] = .null  // or all of it would be copied for each write
        inner.write(value, at: names.dropFirst())
        self[name] = .map(inner)
    }
}
