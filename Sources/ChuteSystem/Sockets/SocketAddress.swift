import Glibc

/// A host and a port as a person writes them: `pi.local:4040`, `192.168.1.5:4040`, `[::]:4040`.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or a number, without brackets.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `nil` where `text` is not a host and a port.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains(where: \.isWhitespace) else { return nil }
        self.init(host: String(host), port: port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The addresses of the host, in the order that the system prefers. Blocks: may ask a
    /// name server. Calls `getaddrinfo`.
    func resolved(forListening: Bool) throws(ResolutionError) -> [ResolvedAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (forListening ? AI_PASSIVE : AI_ADDRCONFIG)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else {
            throw ResolutionError(host: host, reason: String(cString: gai_strerror(result)))
        }
        defer { freeaddrinfo(list) }
        var found: [ResolvedAddress] = []
        var next = list
        while let info = next?.pointee {
            found.append(ResolvedAddress(info))
            next = info.ai_next
        }
        return found
    }
}

/// A name that no address was found for.
package struct ResolutionError: Error, Sendable, CustomStringConvertible {
    package let host: String
    package let reason: String
    package var description: String { "\(host): \(reason)" }
}

/// A socket address in the system's own form.
package struct ResolvedAddress: Sendable {
    let family: Int32
    let bytes: [UInt8]

    init(_ info: addrinfo) {
        family = info.ai_family
        bytes = Array(UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
    }

    init(storage: sockaddr_storage, length: socklen_t) {
        family = Int32(storage.ss_family)
        bytes = withUnsafeBytes(of: storage) { Array($0.prefix(Int(length))) }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(bytes.count))
            }
        }
    }

    /// Host and port in numbers. Calls `getnameinfo`.
    package var numeric: SocketAddress? {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var service = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let result = withPointer { pointer, length in
            getnameinfo(
                pointer, length, &host, socklen_t(host.count), &service,
                socklen_t(service.count), NI_NUMERICHOST | NI_NUMERICSERV)
        }
        guard result == 0 else { return nil }
        func text(_ characters: [CChar]) -> String {
            String(
                decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
                as: UTF8.self)
        }
        var name = text(host)
        if name.hasPrefix("::ffff:"), name.contains(".") { name.removeFirst(7) }
        return UInt16(text(service)).map { SocketAddress(host: name, port: $0) }
    }
}
