import ChuteSystem

/// 32 bytes that name something by its content: a SHA-256, or the root of a tree of them.
public struct Digest: Hashable, Sendable {
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// The number of bytes of every digest.
    public static let byteCount = 32

    /// A digest of exactly 32 bytes; `nil` for any other count.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
        (first, second, third, fourth) = words
    }

    /// The SHA-256 of `parts`, one after the other.
    init(hashing parts: [UInt8]...) {
        let whole = parts.count == 1 ? parts[0] : Array(parts.joined())
        guard let digest = Digest(bytes: SHA256.hash(whole)) else {
            preconditionFailure("SHA-256 gives 32 bytes")
        }
        self = digest
    }

    /// The bytes in their order.
    public var bytes: [UInt8] {
        withUnsafeBytes(of: (first, second, third, fourth)) { Array($0) }
    }

    /// 64 lower-case hexadecimal digits.
    public var hex: String { Hexadecimal.text(bytes) }
}

extension Digest: Comparable, CustomStringConvertible {
    /// Orders by the bytes, the first one first.
    public static func < (left: Self, right: Self) -> Bool {
        (left.first.bigEndian, left.second.bigEndian, left.third.bigEndian, left.fourth.bigEndian)
            < (
                right.first.bigEndian, right.second.bigEndian, right.third.bigEndian,
                right.fourth.bigEndian
            )
    }

    /// The first eight hexadecimal digits: enough for a log line, never for a decision.
    public var description: String { String(hex.prefix(8)) }
}

extension Digest {
    /// The digest of some values, for the seed of a document: the same values, the same seed.
    public static func seed(_ values: [Value]) -> Digest {
        Digest(hashing: CBOR.array([.text("chute seed 1")] + values.map(\.cbor)).encoded())
    }
}
