import ChuteSystem
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(1)))
struct ConnectionGateTests {
    private let request = ConnectionRequest(
        device: DeviceID(Digest(hashing: [1])), metadata: [:], transport: "tcp", address: "here")

    @Test func `without a handler everybody is allowed`() async throws {
        #expect(try await ConnectionGate().answer(request) == .allow)
    }

    @Test func `a handler has ten seconds`() {
        #expect(ConnectionGate().timeout == .seconds(10))
    }

    @Test func `no answer in time is a refusal, and the handler's task is cancelled`() async throws
    {
        let gate = ConnectionGate(timeout: .milliseconds(50))
        let wasCancelled = Atomic<Bool>(false)
        gate.handler = { _ in
            do { try await Task<Never, Never>.pause(for: .seconds(60)) } catch {
                wasCancelled.store(true, ordering: .releasing)
            }
            return .allow
        }
        #expect(try await gate.answer(request) == .refuse)
        try await eventually("cancelled") { wasCancelled.load(ordering: .acquiring) }
    }

    @Test func `handlers that hang do not pile up without an end`() async throws {
        let gate = ConnectionGate(timeout: .milliseconds(20))
        let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
        gate.handler = { _ in
            await withCheckedContinuation { continuation in
                waiting.withLock { $0.append(continuation) }
            }
            return .allow
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    do {
                        let answer = try await gate.answer(request)
                        #expect(answer == .refuse)
                    } catch { Issue.record("\(error)") }
                }
            }
        }
        let count = waiting.withLock { $0.count }
        #expect((1...64).contains(count))
        for continuation in waiting.withLock({ $0 }) { continuation.resume() }
        gate.handler = { _ in .allow }
        try await eventually("there is room again") { try await gate.answer(request) == .allow }
    }

    @Test func `a cancelled question waits no longer`() async throws {
        let gate = ConnectionGate()
        let isAsked = Atomic<Bool>(false)
        gate.handler = { _ in
            isAsked.store(true, ordering: .releasing)
            do { try await Task<Never, Never>.pause(for: .seconds(60)) } catch { return .refuse }
            return .allow
        }
        let task = Task { try await gate.answer(request) }
        try await eventually("asked") { isAsked.load(ordering: .acquiring) }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
}
