/// A host and a port, as a person writes them: `pi.local:4040`, `[::]:4040`.
package struct NetworkEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address, without the brackets of IPv6. Never resolved here.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port` or `[address]:port`; `nil` where it is neither.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits)
        else { return nil }
        var host = text[..<colon]
        if host.first == "[" {
            guard host.last == "]", host.contains(":") else { return nil }
            host = host.dropFirst().dropLast()
            guard host.utf8.allSatisfy({ Self.isInAddress($0) }) else { return nil }
        } else {
            guard host.utf8.allSatisfy({ Self.isInName($0) }) else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 255 else { return nil }
        self.host = String(host)
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true  // letters, digits, -._
        default: byte >= 0x80
        }
    }

    private static func isInAddress(_ byte: UInt8) -> Bool {
        isInName(byte) && byte < 0x80 || byte == 0x3A || byte == 0x25  // and a %zone
    }
}

extension NetworkEndpoint {
    /// Whether an address can be reached only from its own network: private, link-local and
    /// loopback ones of RFC 1918, 3927, 4193 and 4291.
    package static func isPrivate(_ text: String) -> Bool {
        guard let endpoint = NetworkEndpoint(text) else { return false }
        let host = endpoint.host.lowercased()
        if host.contains(":") {
            return host == "::1"
                || ["fc", "fd", "fe8", "fe9", "fea", "feb"].contains {
                    host.hasPrefix($0)
                }
        }
        let numbers = host.split(separator: ".").compactMap { UInt8($0) }
        guard numbers.count == 4 else { return false }
        switch (numbers[0], numbers[1]) {
        case (10, _), (127, _), (192, 168), (169, 254), (172, 16...31): return true
        default: return false
        }
    }
}
