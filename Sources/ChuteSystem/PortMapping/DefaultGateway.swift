import Glibc

/// The router that IPv4 to everywhere else goes through.
package struct DefaultGateway: Hashable, Sendable {
    /// In numbers, such as `192.168.1.1`.
    package let address: String
    /// The interface that it is reached by.
    package let interface: String

    package init(address: String, interface: String) {
        self.address = address
        self.interface = interface
    }

    /// Whether it is in a private network, as a home router is.
    package var isPrivate: Bool {
        let address = SocketAddress(host: address, port: 0)
        return address.isPrivate && !address.isOfThisLink
    }

    /// That of this host; `nil` where it has none. Reads `/proc/net/route`.
    package static func current() throws(SystemError) -> DefaultGateway? {
        let file = try FileDescriptor.open("/proc/net/route", FileDescriptor.readOnly)
        return DefaultGateway(
            routes: String(decoding: try file.read(count: 256 << 10, at: 0), as: UTF8.self))
    }

    /// That of the least metric in a table as `/proc/net/route` has it; `nil` where there is none.
    package init?(routes: String) {
        var best: (gateway: DefaultGateway, metric: UInt32)?
        for line in routes.split(separator: "\n").dropFirst() {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000",
                let number = UInt32(fields[2], radix: 16), number != 0,
                let flags = UInt32(fields[3], radix: 16), let metric = UInt32(fields[6]),
                flags & Self.isUsed == Self.isUsed, metric < best?.metric ?? .max
            else { continue }
            // The number is the address as it lies in memory.
            let bytes = withUnsafeBytes(of: number) { $0.map(String.init) }
            let gateway = DefaultGateway(
                address: bytes.joined(separator: "."), interface: String(fields[0]))
            best = (gateway, metric)
        }
        guard let best else { return nil }
        self = best.gateway
    }

    /// `RTF_UP` and `RTF_GATEWAY`.
    private static let isUsed: UInt32 = 3
}
