import Glibc

extension SocketAddress {
    /// Whether it can be reached only from its own network: private, link-local and loopback
    /// addresses of RFC 1918, 3927, 4193 and 4291. Names are not.
    package var isPrivate: Bool {
        if isOfThisLink { return true }
        let bytes = numericBytes
        guard bytes.count == 4 else { return bytes.first.map { $0 & 0xFE == 0xFC } ?? false }
        switch (bytes[0], bytes[1]) {
        case (10, _), (192, 168), (172, 16...31): return true
        default: return false
        }
    }

    /// Whether it is a number that any host of the internet may send to: neither private nor one of
    /// those that are shared behind a provider's router (RFC 6598), unspecified, or for groups.
    package var isPublic: Bool {
        let bytes = numericBytes
        guard !bytes.isEmpty, !isPrivate else { return false }
        guard bytes.count == 4 else { return bytes[0] & 0xE0 == 0x20 }
        switch (bytes[0], bytes[1]) {
        case (0, _), (224..., _), (100, 64...127): return false
        default: return true
        }
    }

    /// Whether no router passes on what is sent to it: the loopback and link-local addresses of
    /// RFC 1122, 3927 and 4291. Names are not, `localhost` neither: what it stands for is a file's
    /// to say.
    package var isOfThisLink: Bool {
        let bytes = numericBytes
        switch bytes.count {
        case 4: return bytes[0] == 127 || (bytes[0], bytes[1]) == (169, 254)
        case 16: return isLoopback || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
        default: return false
        }
    }

    /// Whether it is this host by itself, in numbers (RFC 1122, 4291).
    package var isLoopback: Bool {
        let bytes = numericBytes
        return bytes.count == 4
            ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// Whether the host is given in numbers: nobody is asked for it.
    package var isNumeric: Bool { !numericBytes.isEmpty }

    /// Whether both hosts are the same number, whatever their zones.
    package func isSameHost(as other: SocketAddress) -> Bool {
        let bytes = numericBytes
        return !bytes.isEmpty && bytes == other.numericBytes
    }

    /// The address in bytes, an IPv4 address in IPv6 form as IPv4; none for a name.
    var numericBytes: [UInt8] {
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return withUnsafeBytes(of: four, Array.init) }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &six) == 1 else { return [] }
        let bytes = withUnsafeBytes(of: six, Array.init)
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12] == [0xFF, 0xFF]
        return isMapped ? Array(bytes[12...]) : bytes
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
