import Glibc

/// Who a request comes from when proxies stand in between.
package enum ForwardedFor {
    /// The rightmost address that no trusted proxy has, of the connection's own end and of
    /// what `X-Forwarded-For` says of those before it.
    ///
    /// Only what a trusted proxy added is believed: everything to the left of the first address
    /// that is not one of `trusted` may be the client's invention. An entry that is no address
    /// ends the search at the proxy that added it.
    package static func source(
        of peer: SocketAddress, header: String?, trusted: [NetworkRange]
    ) -> String {
        func isTrusted(_ host: String) -> Bool { trusted.contains { $0.contains(host) } }
        guard isTrusted(peer.host), let header else { return peer.description }
        var source = peer.description
        for entry in header.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            guard let host = host(entry) else { break }
            source = host
            guard isTrusted(host) else { break }
        }
        return source
    }

    /// The address of an entry: some proxies write its port too.
    private static func host(_ entry: Substring) -> String? {
        let text = String(entry.filter { $0 != " " && $0 != "\t" && $0 != "\"" })
        let bare =
            text.first == "[" && text.last == "]" ? String(text.dropFirst().dropLast()) : text
        let host = NetworkRange(bare) != nil ? bare : SocketAddress(text)?.host
        guard let host, !host.contains("/"), NetworkRange(host) != nil else { return nil }
        return host
    }
}
