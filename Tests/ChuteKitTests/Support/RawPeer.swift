import ChuteSystem
@preconcurrency import Dispatch
import TestSupport

@testable import ChuteKit

/// A member of a shared-key space that says whatever it is told to say.
actor RawPeer {
    private let executor = QueueExecutor(label: "test.peer")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }
    private let stream: TLSStream
    private let readiness: Readiness
    private let key: SharedKey
    private let device: DeviceID
    private var received: [UInt8] = []

    init(at address: String, key: SharedKey) async throws {
        guard let socketAddress = SocketAddress(address) else {
            throw NeverHappened(what: "an address")
        }
        let descriptor = try await Socket.connect(to: socketAddress)
        let deviceKey = try DeviceKey.generate()
        device = DeviceID(publicKey: deviceKey.spki)
        self.key = key
        readiness = try Readiness(descriptor: descriptor.raw, queue: executor.queue)
        stream = try TLSStream(
            context: try TLSContext(key: deviceKey), role: .client, descriptor: descriptor)
        while true {
            let progress = try stream.handshake()
            if progress == .done { break }
            _ = await readiness.wait(progress == .wantsRead ? .read : .write)
        }
    }

    /// Proves, and exchanges hellos.
    func enter() async throws {
        let exporter = try stream.exportKeyingMaterial(
            label: "EXPORTER-chute-prove-1", context: [], count: 32)
        let server = DeviceID(publicKey: stream.peerSPKI)
        let mac = key.sessionProof(
            isClient: true, client: device, server: server, exporter: exporter)
        try await send(FrameType.prove.rawValue, Proof.sharedKey(mac).cbor.encoded())
        try await next(.prove)
        let hello = Hello(instance: .random(in: 0 ... .max), cursor: nil, counter: 0)
        try await send(FrameType.hello.rawValue, hello.cbor.encoded())
        try await next(.hello)
    }

    func send(_ type: UInt8, _ payload: [UInt8]) async throws {
        let count = withUnsafeBytes(of: UInt32(payload.count + 1).bigEndian, Array.init)
        try await write(count + [type] + payload)
    }

    func write(_ bytes: [UInt8]) async throws {
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
    func next(_ type: FrameType) async throws -> [UInt8] {
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

    /// Reads until the other end hangs up.
    func isEnded() async throws -> Bool {
        while try await readMore() {}
        return true
    }

    private func readMore() async throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            switch try buffer.withUnsafeMutableBytes({ try stream.read(into: $0) }) {
            case .bytes(let count):
                received += buffer[..<count]
                return true
            case .closed: return false
            case .wantsRead: guard await readiness.wait(.read) else { return false }
            case .wantsWrite: guard await readiness.wait(.write) else { return false }
            }
        }
    }
}
