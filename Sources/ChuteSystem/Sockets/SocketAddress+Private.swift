import Glibc

extension SocketAddress {
    /// Whether it can be reached only from its own network: private, link-local and loopback
    /// addresses of RFC 1918, 3927, 4193 and 4291. Names are not.
    package var isPrivate: Bool {
        let host = host.lowercased()
        if host.contains(":") {
            return host == "::1"
                || ["fc", "fd", "fe8", "fe9", "fea", "feb"].contains { host.hasPrefix($0) }
        }
        let numbers = host.split(separator: ".").compactMap { UInt8($0) }
        guard numbers.count == 4 else { return false }
        switch (numbers[0], numbers[1]) {
        case (10, _), (127, _), (192, 168), (169, 254), (172, 16...31): return true
        default: return false
        }
    }

    /// What one host has to itself: its IPv4 address, or the 64 bits of an IPv6 address that its
    /// network gave; the whole of a link-local address, since all hosts of a link share those.
    package var network: String {
        var bytes = in6_addr()
        guard host.contains(":"), !host.lowercased().hasPrefix("fe80:"),
            inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &bytes) == 1
        else { return host }
        return withUnsafeBytes(of: bytes) { Hexadecimal.text($0.prefix(8)) } + "/64"
    }
}
