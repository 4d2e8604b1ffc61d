import Glibc

/// Where a WebSocket is: `ws://pi.local:8080/chute`, `wss://example.org/chute`.
package struct WebSocketURL: Hashable, Sendable, CustomStringConvertible {
    /// Whether TLS is spoken outside.
    package let isSecure: Bool
    /// The host without brackets, and the port, which is 80 or 443 where none was written.
    package let address: SocketAddress
    /// From the slash on, a query included.
    package let path: String

    package init(isSecure: Bool, address: SocketAddress, path: String) {
        self.isSecure = isSecure
        self.address = address
        self.path = path
    }

    /// Whether a text begins as such a URL does, right or wrong behind that.
    package static func isOne(_ text: String) -> Bool {
        let scheme = text.prefix(6).lowercased()
        return scheme.hasPrefix("ws://") || scheme == "wss://"
    }

    /// Reads `ws://HOST[:PORT][/PATH]`, or the same with `wss`; `nil` where it is neither, has a
    /// user, a fragment, or characters that a URL does not have.
    package init?(_ text: String) {
        guard Self.isOne(text), let colon = text.firstIndex(of: ":"), text.utf8.count <= 2048,
            text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && !#""<>\^`{|}#"#.utf8.contains($0) })
        else { return nil }
        let isSecure = text[..<colon].count == 3
        let rest = text[text.index(colon, offsetBy: 3)...]
        let slash = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = String(rest[..<slash])
        let (port, tail) = (isSecure ? 443 : 80, String(rest[slash...]))
        let hasPort =
            authority.last == "]"
            ? false
            : authority.drop { $0 != "]" }.contains(":")
                || (authority.first != "[" && authority.contains(":"))
        guard let address = SocketAddress(hasPort ? authority : "\(authority):\(port)"),
            address.port != 0
        else { return nil }
        self.init(
            isSecure: isSecure, address: address, path: tail.first == "/" ? tail : "/" + tail)
    }

    /// The host as a URL and the `Host` header write it, with a port that is not the usual one.
    package var authority: String {
        let isUsual = address.port == (isSecure ? 443 : 80)
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        return isUsual ? host : "\(host):\(address.port)"
    }

    package var description: String { "\(isSecure ? "wss" : "ws")://\(authority)\(path)" }
}
