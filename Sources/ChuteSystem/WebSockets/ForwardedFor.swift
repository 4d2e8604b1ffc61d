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
        of peer: SocketAddress, header: String?, trusted: [NetworkPrefix]
    ) -> String {
        func isTrusted(_ host: String) -> Bool {
            trusted.contains { $0.contains(SocketAddress(host: host, port: 0)) }
        }
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
        let isBare = text.first == "[" && text.last == "]"
        let bare = isBare ? String(text.dropFirst().dropLast()) : text
        return [bare, SocketAddress(text)?.host].lazy.compactMap(\.self).first {
            !SocketAddress(host: $0, port: 0).numericBytes.isEmpty
        }
    }
}
