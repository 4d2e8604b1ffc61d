import CLinux
import Glibc

/// TCP sockets, non-blocking and close-on-exec.
package enum Socket {
    /// One connection that was accepted.
    package struct Accepted: ~Copyable, Sendable {
        package var descriptor: FileDescriptor
        /// `nil` where it is gone again.
        package let peer: SocketAddress?

        /// The descriptor alone.
        package consuming func socket() -> FileDescriptor { descriptor }
    }

    /// A socket that listens.
    package struct Listening: ~Copyable, Sendable {
        package var descriptor: FileDescriptor
        /// With the port that was given.
        package let address: SocketAddress

        /// The descriptor alone.
        package consuming func socket() -> FileDescriptor { descriptor }
    }

    /// Two sockets connected to each other.
    package struct Pair: ~Copyable, Sendable {
        package var one: FileDescriptor
        package var other: FileDescriptor
    }

    /// Listens at `address`; the descriptor and the address with the port that was given.
    ///
    /// `[::]` takes IPv4 too. `EADDRINUSE` where another program has the port. Blocks while a
    /// name is looked up. Calls `socket`, `bind`, `listen`.
    package static func listen(at address: SocketAddress) throws -> Listening {
        var failure: any Error = ResolutionError(host: address.host, reason: "no address")
        for resolved in try address.resolved(forListening: true) {
            do throws(SystemError) {
                let socket = try make(resolved.family)
                try set(socket.raw, SOL_SOCKET, SO_REUSEADDR, 1)
                if resolved.family == AF_INET6 {
                    try set(socket.raw, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0)
                }
                _ = try retrying("bind", BytePath(address.description)) {
                    resolved.withPointer { bind(socket.raw, $0, $1) }
                }
                _ = try retrying("listen") { Glibc.listen(socket.raw, 64) }
                let own = ownAddress(of: socket.raw) ?? address
                return Listening(descriptor: socket, address: own)
            } catch { failure = error }
        }
        throw failure
    }

    /// The next connection waiting at a listening socket; `nil` where none waits.
    ///
    /// Calls `accept4`. Throws `EMFILE` and the like; a connection that its peer gave up
    /// meanwhile is skipped.
    package static func accept(_ listener: Int32) throws(SystemError) -> Accepted? {
        while true {
            let raw = chute_accept(listener)
            if raw >= 0 {
                let socket = FileDescriptor(owning: raw)
                try? set(raw, Int32(IPPROTO_TCP), TCP_NODELAY, 1)  // only slower without
                return Accepted(descriptor: socket, peer: peerAddress(of: raw))
            }
            switch errno {
            case EINTR, ECONNABORTED, EPROTO: continue
            case EAGAIN: return nil
            default: throw .current("accept4")
            }
        }
    }

    /// Connects to `address`, each of its addresses in turn, within `timeout` for each.
    ///
    /// Looks the name up on a thread of its own. Calls `connect`.
    package static func connect(
        to address: SocketAddress, timeout: Duration = .seconds(10)
    ) async throws -> FileDescriptor {
        let candidates = try await NameLookup.own.addresses(of: address)
        var failure: any Error = ResolutionError(host: address.host, reason: "no address")
        for candidate in candidates {
            do {
                return try await connect(to: candidate, named: address, timeout)
            } catch let error as CancellationError {
                throw error
            } catch { failure = error }
        }
        throw failure
    }

    private static func connect(
        to resolved: ResolvedAddress, named address: SocketAddress, _ timeout: Duration
    ) async throws -> FileDescriptor {
        let socket = try make(resolved.family)
        let raw = socket.raw
        try set(raw, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        // A peer that is gone is noticed in two minutes, not in the kernel's fifteen.
        try set(raw, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 120_000)
        let path = BytePath(address.description)
        let result = resolved.withPointer { Glibc.connect(raw, $0, $1) }
        if result != 0, errno != EINPROGRESS { throw SystemError.current("connect", path) }
        if result != 0 {
            let readiness = try Readiness(descriptor: raw)
            let alarm = Alarm { readiness.close() }
            alarm.set(after: timeout)
            let isReady = await readiness.wait(.write)
            alarm.cancel()
            readiness.close()
            try Task.checkCancellation()
            guard isReady else { throw SystemError(code: ETIMEDOUT, call: "connect", path: path) }
            var code: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &length)
            guard code == 0 else { throw SystemError(code: code, call: "connect", path: path) }
        }
        return socket
    }

    /// The address at the other end; `nil` for a socket that is no longer connected.
    package static func peerAddress(of socket: Int32) -> SocketAddress? {
        name(socket, getpeername)
    }

    /// The address at this end; `nil` for a socket that is closed.
    package static func ownAddress(of socket: Int32) -> SocketAddress? { name(socket, getsockname) }

    private static func name(
        _ socket: Int32,
        _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(socket, $0, &length) }
        }
        return result == 0 ? ResolvedAddress(storage: storage, length: length).numeric : nil
    }

    private static func make(_ family: Int32) throws(SystemError) -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let raw = try retrying("socket") { socket(family, type, 0) }
        return FileDescriptor(owning: raw)
    }

    private static func set(
        _ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32
    ) throws(SystemError) {
        var value = value
        _ = try retrying("setsockopt") {
            setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Two connected sockets, for a transport that has no descriptor of its own, and for tests.
    /// Calls `socketpair`.
    package static func pair() throws(SystemError) -> Pair {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        _ = try retrying("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        return Pair(
            one: FileDescriptor(owning: ends[0]), other: FileDescriptor(owning: ends[1]))
    }

    /// Whether an address is this machine's or of a network that one of its interfaces is in: no
    /// router lies between. Calls `getifaddrs`.
    package static func isOnLink(_ address: SocketAddress) -> Bool {
        address.isOfThisLink || NetworkPrefix.ofInterfaces().contains { $0.contains(address) }
    }

    /// The interfaces of this machine with their addresses, each with whether it is up and whether
    /// it has a link; loopback left out. Calls `getifaddrs`.
    package static func interfaceStates() -> Set<String> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var states: Set<String> = []
        var next = list
        while let interface = next?.pointee {
            next = interface.ifa_next
            guard interface.ifa_flags & UInt32(IFF_LOOPBACK) == 0 else { continue }
            let flags = interface.ifa_flags & (UInt32(IFF_UP) | UInt32(IFF_RUNNING))
            let address = NetworkPrefix.numericBytes(interface.ifa_addr).map(Hexadecimal.text) ?? ""
            states.insert("\(String(cString: interface.ifa_name)) \(flags) \(address)")
        }
        return states
    }

    /// The addresses of this machine's interfaces, loopback left out. Calls `getifaddrs`.
    package static func interfaceAddresses() -> [SocketAddress] {
        InterfaceAddress.all().filter { !$0.isLoopback }.map(\.address)
    }

    /// Whether this system has IPv6 at all. Calls `socket`.
    package static var hasIPv6: Bool {
        do throws(SystemError) {
            _ = try make(AF_INET6)
            return true
        } catch {
            return error.code != EAFNOSUPPORT
        }
    }
}
