import Glibc

/// An address, or all that begin with the same bits: `127.0.0.1`, `10.0.0.0/8`, `fd00::/8`.
package struct NetworkPrefix: Hashable, Sendable {
    /// 4 or 16 bytes.
    private let bytes: [UInt8]
    private let bitCount: Int

    init(bytes: [UInt8], bitCount: Int) {
        self.bytes = bytes
        self.bitCount = bitCount
    }

    /// Reads an address of numbers with or without a number of bits; `nil` where it is neither.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count <= 2 else { return nil }
        let bytes = SocketAddress(host: String(host), port: 0).numericBytes
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        guard parts.count == 2 else {
            bitCount = bytes.count * 8
            return
        }
        guard let count = Int(parts[1]), (0...bytes.count * 8).contains(count),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        bitCount = count
    }

    /// Whether the host of `address` is a number that begins with the same bits.
    package func contains(_ address: SocketAddress) -> Bool {
        let other = address.numericBytes
        guard other.count == bytes.count else { return false }
        let (whole, rest) = (bitCount / 8, bitCount % 8)
        guard other[..<whole] == bytes[..<whole] else { return false }
        guard rest > 0 else { return true }
        return (other[whole] ^ bytes[whole]) >> (8 - rest) == 0
    }
}
