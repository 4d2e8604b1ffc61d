import ChuteSystem
import Glibc
import Synchronization
import TestSupport

/// Listens at a port of this host with a key that nobody knows, and says goodbye to whoever
/// comes, before anything was proved.
final class RudeStranger: Sendable {
    let address: String
    private let reason: String
    private let count = Atomic<Int>(0)
    private let running = Mutex<Task<Void, any Error>?>(nil)

    /// How many have heard it and hung up.
    var heardCount: Int { count.load(ordering: .relaxed) }

    init(saying reason: String) throws {
        ignoreSignals()
        self.reason = reason
        let socket = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        address = socket.address.description
        let raw = dup(socket.descriptor.raw)  // the other one goes with `socket`
        let task = Task { try await self.accept(FileDescriptor(owning: raw)) }
        running.withLock { $0 = task }
    }

    func stop() async {
        let task = running.withLock { $0 }
        task?.cancel()
        _ = await task?.result
    }

    private func accept(_ listener: consuming FileDescriptor) async throws {
        let raw = listener.raw
        let readiness = try Readiness(descriptor: raw)
        defer { readiness.close() }
        let tls = try TLSContext(key: DeviceKey.generate())
        while await readiness.wait(.read) {
            while let connection = try Socket.accept(raw) {
                // One after the other: who is tested dials anew once this one is over.
                do { try await greet(connection.socket(), tls) } catch {
                    continue  // it hung up amid: it comes again
                }
                count.add(1, ordering: .relaxed)
            }
        }
    }

    private func greet(_ descriptor: consuming FileDescriptor, _ tls: TLSContext) async throws {
        let readiness = try Readiness(descriptor: descriptor.raw)
        defer { readiness.close() }
        let stream = try TLSStream(context: tls, role: .server, descriptor: descriptor)
        while true {
            let progress = try stream.handshake()
            if progress == .done { break }
            guard await readiness.wait(progress == .wantsRead ? .read : .write) else { return }
        }
        let payload = CBOR.map([0: .text(reason)]).encoded()
        let count = withUnsafeBytes(of: UInt32(payload.count + 1).bigEndian, Array.init)
        let frame = count + [RawPeer.Frame.goodbye.rawValue] + payload
        let sent = try frame.withUnsafeBytes { try stream.write($0) }
        guard case .bytes(frame.count) = sent else { throw NeverHappened(what: "a goodbye") }
        // Closed before the other end has read it, it could be lost.
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            switch try buffer.withUnsafeMutableBytes({ try stream.read(into: $0) }) {
            case .bytes: continue
            case .closed: return
            case .wantsRead: guard await readiness.wait(.read) else { return }
            case .wantsWrite: guard await readiness.wait(.write) else { return }
            }
        }
    }
}
