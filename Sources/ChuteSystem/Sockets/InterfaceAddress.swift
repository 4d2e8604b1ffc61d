import Glibc

/// One address of one interface of this host.
package struct InterfaceAddress: Hashable, Sendable {
    /// The interface's name, such as `eth0`.
    package let interface: String
    package let index: Int32
    package let isLoopback: Bool
    /// In numbers, a link-local one of IPv6 with its zone; without a port.
    package let address: SocketAddress

    package init(interface: String, index: Int32, isLoopback: Bool, address: SocketAddress) {
        self.interface = interface
        self.index = index
        self.isLoopback = isLoopback
        self.address = address
    }

    /// The host in numbers, without a zone.
    package var number: String { String(address.host.prefix { $0 != "%" }) }

    package var isIPv6: Bool { address.host.contains(":") }

    /// Those of all interfaces that are up. Calls `getifaddrs`.
    package static func all() -> [InterfaceAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [InterfaceAddress] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_UP) != 0, let address = Self.address(entry)
            else { continue }
            found.append(
                InterfaceAddress(
                    interface: String(cString: entry.ifa_name),
                    index: Int32(clamping: if_nametoindex(entry.ifa_name)),
                    isLoopback: entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0, address: address))
        }
        return found
    }

    private static func address(_ entry: ifaddrs) -> SocketAddress? {
        guard let address = entry.ifa_addr else { return nil }
        let length: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: length))
        }
        return ResolvedAddress(storage: storage, length: socklen_t(length)).numeric
    }
}
