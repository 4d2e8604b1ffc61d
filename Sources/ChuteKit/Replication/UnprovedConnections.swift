import ChuteSystem

/// Bounds the connections that have not proved anything yet: as a whole, and those of one source,
/// so that who only holds connections open keeps no member out. A value without I/O or clock.
struct UnprovedConnections {
    struct Limits: Sendable {
        var whole = 64
        var perSource = 16
    }

    private let limits: Limits
    private var counts: [String: Int] = [:]
    private(set) var count = 0

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Counts a connection from an address; `false` where there are enough, and it is not
    /// counted. For each that was counted `end` is called once.
    mutating func begin(_ address: String) -> Bool {
        let source = Self.source(of: address)
        guard count < limits.whole, counts[source, default: 0] < limits.perSource else {
            return false
        }
        counts[source, default: 0] += 1
        count += 1
        return true
    }

    /// It has proved itself, or is gone.
    mutating func end(_ address: String) {
        let source = Self.source(of: address)
        guard let known = counts[source] else { return }
        counts[source] = known > 1 ? known - 1 : nil
        count -= 1
    }

    /// The host of an address; of IPv6 its network, since a host there has as many as it likes.
    private static func source(of address: String) -> String {
        // One that a proxy names has no port.
        (SocketAddress(address) ?? SocketAddress(host: address, port: 0)).network
    }
}
