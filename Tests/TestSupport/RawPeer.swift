package import ChuteSystem
@preconcurrency import Dispatch

/// Whoever connects to an engine and says whatever it is told to say: a stranger until `enter`.
///
/// It speaks by the text of `WireProtocol` alone, with no code of the library.
package actor RawPeer {
    /// The types of frames, by their numbers on the wire.
    package enum Frame: UInt8, CaseIterable, Sendable {
        case prove = 1
        case hello, changes, acknowledge, have, want, piece, absent, mismatch, cancel, ping, goodbye
        case confirm, confirmed, relay, dialBack, dialedBack
    }

    private let executor = QueueExecutor(label: "test.peer")
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }
    private let stream: TLSStream
    private let readiness: Readiness
    private let device: [UInt8]
    private var received: [UInt8] = []
    /// The key that it shows.
    package nonisolated let key: DeviceKey
    /// All that the other end said so far.
    package private(set) var heard: [UInt8] = []

    /// Connects as far as TLS goes, with a key that nobody has seen before unless one is given.
    package init(at address: String, key: DeviceKey? = nil) async throws {
        ignoreSignals()  // the other end may hang up at any time
        guard let socketAddress = SocketAddress(address) else {
            throw NeverHappened(what: "an address")
        }
        let descriptor = try await Socket.connect(to: socketAddress)
        let key = try key ?? DeviceKey.generate()
        self.key = key
        device = SHA256.hash(key.spki)
        readiness = try Readiness(descriptor: descriptor.raw)
        stream = try TLSStream(
            context: try TLSContext(key: key), role: .client, descriptor: descriptor)
        while true {
            let progress = try stream.handshake()
            if progress == .done { break }
            _ = await readiness.wait(progress == .wantsRead ? .read : .write)
        }
    }

    /// Proves that it holds the 32 bytes of a shared key, and exchanges hellos.
    package func enter(key: [UInt8]) async throws {
        try await send(.prove, .map([0: .unsigned(1), 1: .bytes(proof(key))]))
        try await next(.prove)
        try await greet()
    }

    /// Proves by the secret of a ticket, and exchanges hellos; `subscription` as it is encoded.
    package func enter(secret: [UInt8], subscription: [UInt8]? = nil) async throws {
        try await send(.prove, .map([0: .unsigned(2), 1: .bytes(secret)]))
        try await next(.prove)
        try await greet(subscription: subscription)
    }

    /// Proves by its key alone, and exchanges hellos.
    package func enter() async throws {
        try await send(.prove, .map([0: .unsigned(0)]))
        try await next(.prove)
        try await greet()
    }

    private func greet(subscription: [UInt8]? = nil) async throws {
        let instance = UInt64.random(in: 0 ... .max)
        var entries: [Int: CBOR] = [0: .unsigned(1), 1: .unsigned(instance), 2: .unsigned(0)]
        if let subscription { entries[6] = .bytes(subscription) }
        try await send(.hello, .map(entries))
        try await next(.hello)
    }

    private func proof(_ key: [UInt8]) throws -> [UInt8] {
        func derive(_ label: String, _ context: [UInt8]) -> [UInt8] {
            SHA256.deriveKey(from: key, info: Array(label.utf8) + [0] + context)
        }
        let exporter = try stream.exportKeyingMaterial(
            label: "EXPORTER-chute-prove-1", context: [], count: 32)
        let ends = device + SHA256.hash(stream.peerSPKI) + exporter
        return SHA256.authenticationCode(
            for: derive("chute shared space 1", []) + ends,
            key: derive("chute prove client 1", ends))
    }

    package func send(_ type: Frame, _ payload: CBOR) async throws {
        try await send(type.rawValue, payload.encoded())
    }

    package func send(_ type: UInt8, _ payload: [UInt8]) async throws {
        let count = withUnsafeBytes(of: UInt32(payload.count + 1).bigEndian, Array.init)
        try await write(count + [type] + payload)
    }

    package func write(_ bytes: [UInt8]) async throws {
        var sent = 0
        while sent < bytes.count {
            let result = try bytes.withUnsafeBytes {
                try stream.write(UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            if case .bytes(let count) = result {
                sent += count
            } else {
                _ = await readiness.wait(.write)
            }
        }
    }

    /// Reads until a frame of this type came.
    @discardableResult
    package func next(_ type: Frame) async throws -> [UInt8] {
        while true {
            while received.count >= 4 {
                let count = received[..<4].reduce(0) { $0 << 8 | Int($1) } + 4
                guard received.count >= count else { break }
                let frame = Array(received[4..<count])
                received.removeFirst(count)
                if frame[0] == type.rawValue { return Array(frame.dropFirst()) }
            }
            guard try await readMore() else { throw NeverHappened(what: "\(type)") }
        }
    }

    /// Reads until the other end hangs up; throws where it does not.
    package func awaitEnd(within limit: Duration = .seconds(40)) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { while try await self.readMore() {} }
            group.addTask {
                try await Task.sleep(for: limit)
                throw NeverHappened(what: "the other end hangs up")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func readMore() async throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            switch try buffer.withUnsafeMutableBytes({ try stream.read(into: $0) }) {
            case .bytes(let count):
                received += buffer[..<count]
                heard += buffer[..<count]
                return true
            case .closed: return false
            case .wantsRead: guard await readiness.wait(.read) else { return false }
            case .wantsWrite: guard await readiness.wait(.write) else { return false }
            }
        }
    }
}
