import ChuteSystem
import Glibc
import Synchronization
import TestSupport

/// Stands between two engines: passes bytes on, cuts connections, holds bytes back, flips one.
final class FaultyProxy: Sendable {
    /// What is done to each connection.
    struct Faults: Sendable {
        /// Cut after so many bytes towards the one that dialled.
        var cutAfter: Int?
        /// Flip a bit of the byte at this place towards the one that dialled.
        var flipAt: Int?
        /// Nothing is passed on from this place on, but the connection stays.
        var silentAfter: Int?
        /// Nothing is taken in from this place on, until `set` says otherwise.
        var holdAfter: Int?
        /// Each read is passed on so much later, in both directions.
        var delay: Duration?
    }

    let address: String
    private let target: String
    private let faults: Mutex<Faults>
    private let count = Atomic<Int>(0)
    private let down = Atomic<Int>(0)
    private let up = Atomic<Int>(0)
    private let running = Mutex<Task<Void, Never>?>(nil)

    var connectionCount: Int { count.load(ordering: .relaxed) }
    /// The bytes that were passed on towards those that dialled.
    var downCount: Int { down.load(ordering: .relaxed) }
    /// The bytes that were passed on towards the target.
    var upCount: Int { up.load(ordering: .relaxed) }

    init(to target: String, faults: Faults) throws {
        self.target = target
        self.faults = Mutex(faults)
        let socket = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        address = socket.address.description
        let raw = dup(socket.descriptor.raw)  // the other one goes with `socket`
        let task = Task { await self.accept(FileDescriptor(owning: raw)) }
        running.withLock { $0 = task }
    }

    /// What is done to connections from now on.
    func set(_ new: Faults) { faults.withLock { $0 = new } }

    func stop() async {
        let task = running.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    private func accept(_ listener: consuming FileDescriptor) async {
        let raw = listener.raw
        guard let readiness = try? Readiness(descriptor: raw) else { return }
        defer { readiness.close() }
        await withTaskGroup(of: Void.self) { group in
            while await readiness.wait(.read) {
                while let connection = try? Socket.accept(raw) {
                    count.add(1, ordering: .relaxed)
                    let number = connection.socket().release()
                    let faults = faults.withLock { $0 }
                    group.addTask { await self.pump(FileDescriptor(owning: number), faults) }
                }
            }
            group.cancelAll()
        }
    }

    private func pump(_ dialer: consuming FileDescriptor, _ faults: Faults) async {
        guard let address = SocketAddress(target),
            let other = try? await Socket.connect(to: address),
            let one = try? Readiness(descriptor: dialer.raw),
            let two = try? Readiness(descriptor: other.raw)
        else { return }
        let (left, right) = (dialer.raw, other.raw)
        if faults.holdAfter != nil { Self.narrow(right) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.copy(left, one, right, two, Faults(delay: faults.delay)) {
                    self.up.add($0, ordering: .relaxed)
                }
            }
            group.addTask {
                await self.copy(right, two, left, one, faults) {
                    self.down.add($0, ordering: .relaxed)
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Lets little wait in the socket, so that who sends notices when nobody takes.
    private static func narrow(_ socket: Int32) {
        var size = Int32(64 << 10)
        setsockopt(
            socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether nothing is to be taken in at this place for now.
    private func holds(_ faults: Faults, at passed: Int) -> Bool {
        guard let limit = faults.holdAfter, passed > limit else { return false }
        return self.faults.withLock { $0.holdAfter != nil }
    }

    /// Copies until either end closes, or a fault ends it.
    private func copy(
        _ from: Int32, _ source: Readiness, _ to: Int32, _ target: Readiness, _ faults: Faults,
        passing: (Int) -> Void
    ) async {
        var buffer = [UInt8](repeating: 0, count: faults.delay == nil ? 16 << 10 : 256 << 10)
        var passed = 0
        while true {
            let limit = min(buffer.count, (faults.cutAfter ?? .max) - passed)
            if limit <= 0 { return }
            while holds(faults, at: passed) {
                do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
            }
            let got = recv(from, &buffer, limit, 0)
            if got == 0 { return }
            if got < 0 {
                guard errno == EAGAIN, await source.wait(.read) else { return }
                continue
            }
            if let place = faults.flipAt, (passed..<passed + got).contains(place) {
                buffer[place - passed] ^= 0x10
            }
            passed += got
            if let delay = faults.delay {
                do { try await Task.sleep(for: delay) } catch { return }
            }
            if let limit = faults.silentAfter, passed > limit { continue }
            var sent = 0
            while sent < got {
                let count = buffer.withUnsafeBytes {
                    send(to, $0.baseAddress?.advanced(by: sent), got - sent, 0)
                }
                if count > 0 {
                    sent += count
                    passing(count)
                } else {
                    guard errno == EAGAIN, await target.wait(.write) else { return }
                }
            }
        }
    }
}
