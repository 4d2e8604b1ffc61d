/// A proxy that passes connections on at the word `CONNECT`.
package struct HTTPProxy: Hashable, Sendable, CustomStringConvertible {
    package let address: SocketAddress
    /// `user:password`, or nothing.
    package let credentials: String?

    package init(address: SocketAddress, credentials: String? = nil) {
        self.address = address
        self.credentials = credentials
    }

    /// Without the credentials.
    package var description: String { "http://\(address)" }
}

/// Which proxy leads where, by the environment's variables as `curl` reads them.
///
/// `http_proxy` is for `ws://`, `https_proxy` or `HTTPS_PROXY` for `wss://`, `all_proxy` or
/// `ALL_PROXY` for what has none of its own; upper-case `HTTP_PROXY` is left out, since a web
/// server sets it from a request's header. `no_proxy` or `NO_PROXY` names hosts, domains and
/// ranges of addresses without one; this host itself never has one.
package struct ProxySettings: Hashable, Sendable {
    private let plain: String?
    private let secure: String?
    private let exceptions: [String]

    package init(_ environment: ProcessEnvironment) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0]?.string }.first
        }
        plain = value("http_proxy", "all_proxy", "ALL_PROXY")
        secure = value("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        exceptions = (value("no_proxy", "NO_PROXY") ?? "").lowercased()
            .split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }

    /// The proxy on the way to a URL; `nil` where there is none. Throws where the variable is
    /// not understood.
    package func proxy(for url: WebSocketURL) throws(WebSocketError) -> HTTPProxy? {
        guard let text = url.isSecure ? secure : plain, !isExcepted(url.address.host) else {
            return nil
        }
        guard let proxy = Self.parse(text) else {
            throw WebSocketError(
                .proxy,
                "the proxy of the environment's \(url.isSecure ? "https_proxy" : "http_proxy") "
                    + "is not http://HOST:PORT")
        }
        return proxy
    }

    private static let ownHost = ["127.0.0.0/8", "::1"].compactMap(NetworkPrefix.init)

    private func isExcepted(_ host: String) -> Bool {
        let host = host.lowercased()
        let address = SocketAddress(host: host, port: 0)
        if host == "localhost" || Self.ownHost.contains(where: { $0.contains(address) }) {
            return true
        }
        return exceptions.contains { exception in
            if exception == "*" { return true }
            if let range = NetworkPrefix(exception) { return range.contains(address) }
            // A leading dot and a port mean nothing.
            var name = exception[...]
            if name.first == "[", let end = name.firstIndex(of: "]") {
                return String(name.dropFirst()[..<end]) == host
            }
            if let colon = name.firstIndex(of: ":") { name = name[..<colon] }
            if name.first == "." { name = name.dropFirst() }
            guard !name.isEmpty else { return false }
            return host == name || host.hasSuffix("." + name)
        }
    }

    /// Reads `[http://][user[:password]@]host:port`, with 1080 as `curl`'s port.
    private static func parse(_ text: String) -> HTTPProxy? {
        var rest = text[...]
        if rest.lowercased().hasPrefix("http://") { rest = rest.dropFirst(7) }
        if let slash = rest.firstIndex(of: "/") {
            guard rest.index(after: slash) == rest.endIndex else { return nil }
            rest = rest[..<slash]
        }
        var credentials: String?
        if let at = rest.lastIndex(of: "@") {
            guard let decoded = unescaped(rest[..<at]), decoded.utf8.count <= 90 else {
                return nil  // libwebsockets has no room for more
            }
            credentials = decoded
            rest = rest[rest.index(after: at)...]
        }
        let hasPort =
            rest.drop { $0 != "]" }.contains(":") || (rest.first != "[" && rest.contains(":"))
        guard let address = SocketAddress(hasPort ? String(rest) : "\(rest):1080") else {
            return nil
        }
        return HTTPProxy(address: address, credentials: credentials)
    }

    /// `%XX` as the bytes they stand for; `nil` for a control character or what is no UTF-8.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
