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

    /// Reads `host:port` or `[address]:port`; `nil` where it is neither. Resolves nothing.
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
        self.init(host: String(host), port: port)
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true  // letters, digits, -._
        default: byte >= 0x80
        }
    }

    private static func isInAddress(_ byte: UInt8) -> Bool {
        isInName(byte) && byte < 0x80 || byte == 0x3A || byte == 0x25  // and a %zone
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
