import Glibc

/// A path or a file name as the bytes that the file system keeps.
///
/// Never compared, sorted or opened through a `String`: `String` takes NFC and NFD for equal
/// and cannot hold bytes that are not UTF-8. `description` is for printing only.
public struct BytePath: Hashable, Comparable, Sendable {
    /// The bytes, without a terminating NUL.
    public var bytes: [UInt8]

    /// A path of these bytes, kept as they are.
    public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// A path of the UTF-8 bytes of `text`.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// A relative path of these components, joined by `/`.
    public init(components: some Sequence<[UInt8]>) {
        bytes = Array(components.joined(separator: [Self.separator]))
    }

    /// The byte `/`.
    public static let separator = UInt8(ascii: "/")

    public static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    public var isEmpty: Bool { bytes.isEmpty }
    public var isAbsolute: Bool { bytes.first == Self.separator }

    /// The names between the slashes; empty ones left out.
    public var components: [[UInt8]] {
        bytes.split(separator: Self.separator).map(Array.init)
    }

    /// The last name, empty for `/` and the empty path.
    public var lastComponent: BytePath {
        BytePath(bytes: bytes.split(separator: Self.separator).last ?? [])
    }

    /// All but the last name: empty for a single relative name, `/` at the top.
    public var parent: BytePath {
        var end = bytes.count
        while end > 1, bytes[end - 1] == Self.separator { end -= 1 }
        while end > 0, bytes[end - 1] != Self.separator { end -= 1 }
        while end > 1, bytes[end - 1] == Self.separator { end -= 1 }
        return BytePath(bytes: bytes[..<end])
    }

    /// This path with `name` below it.
    public func appending(_ name: BytePath) -> BytePath {
        if isEmpty { return name }
        if name.isEmpty { return self }
        var joined = bytes
        if joined.last != Self.separator { joined.append(Self.separator) }
        joined.append(contentsOf: name.bytes)
        return BytePath(bytes: joined)
    }

    /// This path with the UTF-8 bytes of `name` below it.
    public func appending(_ name: String) -> BytePath { appending(BytePath(name)) }

    /// The path below `folder`, or `nil` where this path does not lie in it.
    public func relative(to folder: BytePath) -> BytePath? {
        if folder.isEmpty { return self }
        guard bytes.starts(with: folder.bytes) else { return nil }
        let rest = bytes[folder.bytes.count...]
        if rest.isEmpty { return BytePath(bytes: []) }
        if folder.bytes.last == Self.separator { return BytePath(bytes: rest) }
        guard rest.first == Self.separator else { return nil }
        return BytePath(bytes: rest.dropFirst())
    }

    /// Text, if the bytes are UTF-8.
    public var string: String? { String(validating: bytes, as: UTF8.self) }

    /// Calls `body` with the bytes and a terminating NUL. A path with a NUL in it ends there:
    /// whoever takes paths from peers refuses those first.
    package func withCString<Result, Failure: Error>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var terminated = ContiguousArray(bytes)
        terminated.append(0)
        let outcome: Swift.Result<Result, Failure> = terminated.withUnsafeBytes { raw in
            let start = raw.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) }
            guard let start else { preconditionFailure("a terminated path is never empty") }
            do throws(Failure) { return .success(try body(start)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

extension BytePath: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral text: String) { self.init(text) }

    /// The path for people: control, bidirectional and undecodable bytes as `\xNN`, one line.
    public var description: String {
        var text = ""
        var decoder = UTF8()
        var remaining = bytes[...]
        while let byte = remaining.first {
            var iterator = remaining.makeIterator()
            if case .scalarValue(let scalar) = decoder.decode(&iterator), Self.isPlain(scalar) {
                text.unicodeScalars.append(scalar)
                remaining = remaining.dropFirst(UTF8.width(scalar))
            } else {
                let digits = String(byte, radix: 16)
                text += byte < 16 ? "\\x0\(digits)" : "\\x\(digits)"
                remaining = remaining.dropFirst()
            }
            decoder = UTF8()
        }
        return text
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x5C: false  // C0, DEL, C1, and the backslash that escapes
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: false
        default: true
        }
    }
}

extension UTF8 {
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0..<0x80: 1
        case 0x80..<0x800: 2
        case 0x800..<0x10000: 3
        default: 4
        }
    }
}
