import Glibc

extension NetworkPrefix {
    /// The networks that this host's interfaces are in, those of loopback among them; without
    /// point-to-point ones, which are no network of several hosts. Calls `getifaddrs`.
    package static func ofInterfaces() -> [NetworkPrefix] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [NetworkPrefix] = []
        var next = list
        while let interface = next?.pointee {
            next = interface.ifa_next
            guard interface.ifa_flags & UInt32(IFF_UP) != 0,
                interface.ifa_flags & UInt32(IFF_POINTOPOINT) == 0,
                let address = numericBytes(interface.ifa_addr),
                let mask = numericBytes(interface.ifa_netmask), address.count == mask.count
            else { continue }
            let count = mask.reduce(0) { $0 + $1.nonzeroBitCount }
            found.append(NetworkPrefix(bytes: address, bitCount: count))
        }
        return found
    }

    static func numericBytes(_ address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let address else { return nil }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr, Array.init)
        case AF_INET6:
            return withUnsafeBytes(
                of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr, Array.init)
        default: return nil
        }
    }
}
