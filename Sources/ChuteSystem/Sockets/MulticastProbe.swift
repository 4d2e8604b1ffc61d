import CLinux
import Glibc

/// Whether multicast DNS gets out of this host and that of others gets in, tried with one question
/// (RFC 6762): which services there are (`_services._dns-sd._udp.local`, RFC 6763 section 9).
package struct MulticastProbe: Hashable, Sendable {
    /// Of which addresses.
    package enum Family: Hashable, Sendable { case v4, v6 }

    /// Whether any interface with multicast has an address.
    package var hasInterface = false
    /// The question was heard on the group by this host itself.
    package var heardItself = false
    /// Addresses of others that said something in the group.
    package var others: Set<String> = []
    /// Why nothing could be tried.
    package var failure: SystemError?

    private static let port: UInt16 = 5353
    private static let question: [UInt8] =
        [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + label("_services") + label("_dns-sd")
        + label("_udp") + label("local") + [0, 0, 12, 0, 1]

    private static func label(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count)] + Array(text.utf8)
    }

    /// What was found before anything was tried.
    package init() {}

    /// Asks on every interface with multicast, and listens for `duration`.
    package static func run(
        _ family: Family, for duration: Duration = .seconds(2)
    ) async -> MulticastProbe {
        var probe = MulticastProbe()
        do throws(SystemError) {
            let addresses = InterfaceAddress.all()
            let own = Set(addresses.map(\.address.host))
            // Each interface once: IPv4 names it by an address, IPv6 by its number.
            let ways = Set(
                addresses.filter { !$0.isLoopback && $0.isIPv6 == (family == .v6) }.map {
                    family == .v4 ? Way(host: $0.address.host) : Way(index: $0.index)
                })
            let socket = try open(family)
            let readiness = try Readiness(descriptor: socket.raw)
            let alarm = Alarm { readiness.close() }
            alarm.set(after: duration)
            var refusal: SystemError?
            var hasAsked = false
            for way in ways {
                do throws(SystemError) {
                    guard try join(socket.raw, way) else { continue }
                    probe.hasInterface = true
                    try ask(socket.raw, way)
                    hasAsked = true
                } catch { refusal = error }  // trouble with one interface is its own
            }
            if let refusal, !hasAsked { throw refusal }
            while await readiness.wait(.read) {
                try probe.hear(socket.raw, own)
            }
            alarm.cancel()
        } catch {
            probe.failure = error
        }
        return probe
    }

    /// By which interface.
    private struct Way: Hashable {
        var host: String?
        var index: Int32 = 0
    }

    private static func open(_ family: Family) throws(SystemError) -> FileDescriptor {
        let raw = try retrying("socket") {
            chute_datagram_socket(family == .v4 ? AF_INET : AF_INET6)
        }
        let socket = FileDescriptor(owning: raw)
        try set(raw, SOL_SOCKET, SO_REUSEADDR, 1)
        try set(raw, SOL_SOCKET, SO_REUSEPORT, 1)
        let all: ResolvedAddress
        switch family {
        case .v4:
            try set(raw, Int32(IPPROTO_IP), IP_MULTICAST_LOOP, 1)
            all = ResolvedAddress(v4: "0.0.0.0", port: port)
        case .v6:
            try set(raw, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1)
            try set(raw, Int32(IPPROTO_IPV6), IPV6_MULTICAST_LOOP, 1)
            all = ResolvedAddress(v6: "::", port: port, interface: 0)
        }
        _ = try retrying("bind") { all.withPointer { bind(raw, $0, $1) } }
        return socket
    }

    /// `false` for an interface without multicast.
    private static func join(_ raw: Int32, _ way: Way) throws(SystemError) -> Bool {
        guard let host = way.host else {
            var membership = ipv6_mreq()
            inet_pton(AF_INET6, groupV6, &membership.ipv6mr_multiaddr)
            membership.ipv6mr_interface = UInt32(bitPattern: way.index)
            let size = socklen_t(MemoryLayout<ipv6_mreq>.size)
            guard
                setsockopt(raw, Int32(IPPROTO_IPV6), IPV6_ADD_MEMBERSHIP, &membership, size) == 0
            else { return false }
            try set(raw, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, way.index)
            return true
        }
        var membership = ip_mreq()
        inet_pton(AF_INET, groupV4, &membership.imr_multiaddr)
        inet_pton(AF_INET, host, &membership.imr_interface)
        let size = socklen_t(MemoryLayout<ip_mreq>.size)
        guard setsockopt(raw, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &membership, size) == 0
        else { return false }
        var interface = membership.imr_interface
        _ = try retrying("setsockopt") {
            setsockopt(
                raw, Int32(IPPROTO_IP), IP_MULTICAST_IF, &interface,
                socklen_t(MemoryLayout<in_addr>.size))
        }
        return true
    }

    private static let groupV4 = "224.0.0.251"
    private static let groupV6 = "ff02::fb"

    private static func ask(_ raw: Int32, _ way: Way) throws(SystemError) {
        let target =
            way.host == nil
            ? ResolvedAddress(v6: groupV6, port: port, interface: way.index)
            : ResolvedAddress(v4: groupV4, port: port)
        _ = try retrying("sendto") {
            target.withPointer { sendto(raw, question, question.count, 0, $0, $1) }
        }
    }

    private mutating func hear(_ raw: Int32, _ own: Set<String>) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: 9000)
        var storage = sockaddr_storage()
        while true {
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let count = withUnsafeMutablePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(raw, &buffer, buffer.count, 0, $0, &length)
                }
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count >= 0 else { throw .current("recvfrom") }
            guard let host = ResolvedAddress(storage: storage, length: length).numeric?.host
            else { continue }
            if !own.contains(host) {
                if others.count < 256 { others.insert(host) }
            } else if buffer[..<count].elementsEqual(Self.question) {
                heardItself = true
            }
        }
    }

    private static func set(
        _ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32
    ) throws(SystemError) {
        var value = value
        _ = try retrying("setsockopt") {
            setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}

extension ResolvedAddress {
    /// An IPv4 address in numbers.
    fileprivate init(v4 host: String, port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { target in
            withUnsafeBytes(of: address) { target.copyMemory(from: $0) }
        }
        self.init(storage: storage, length: socklen_t(MemoryLayout<sockaddr_in>.size))
    }

    /// An IPv6 address in numbers; `interface` is its zone.
    fileprivate init(v6 host: String, port: UInt16, interface: Int32) {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        inet_pton(AF_INET6, host, &address.sin6_addr)
        address.sin6_scope_id = UInt32(bitPattern: interface)
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { target in
            withUnsafeBytes(of: address) { target.copyMemory(from: $0) }
        }
        self.init(storage: storage, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
    }
}
