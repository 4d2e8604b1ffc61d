import ChuteSystem
import Glibc
import Synchronization
import TestSupport
import Testing

/// Where the program's tasks and actors run.
@Suite(.timeLimit(.minutes(1)))
struct ExecutorTests {
    private actor Counter {
        private let executor = QueueExecutor(label: "test.counter")
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }
        private(set) var count = 0
        private(set) var threads: Set<pthread_t> = []

        func increase() {
            count += 1
            threads.insert(pthread_self())
        }

        nonisolated func increaseLater() {
            executor.async { self.assumeIsolated { $0.increase() } }
        }
    }

    @Test func `an actor with an executor does everything on its one thread`() async {
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask { await counter.increase() }
                counter.increaseLater()
            }
        }
        while await counter.count < 1000 {}
        #expect(await counter.threads.count == 1)
    }

    @Test func `what one piece of work holds goes with it, not with all that waited with it`()
        async throws
    {
        final class Held: Sendable {}
        let executor = QueueExecutor(label: "test.held")
        let gate = Mutex(false)
        let seen = Mutex<Bool?>(nil)
        executor.async { while !gate.withLock({ $0 }) { usleep(1000) } }
        weak var weakHeld: Held?
        do {
            let held = Held()
            weakHeld = held
            executor.async { _ = held }
        }
        nonisolated(unsafe) let look = { weakHeld == nil }
        executor.async { seen.withLock { $0 = look() } }
        gate.withLock { $0 = true }
        try await eventually("the last one ran") { seen.withLock { $0 != nil } }
        #expect(seen.withLock { $0 } == true)
    }

    @Test func `many tasks of the pool all run, child tasks and actors too`() async {
        actor Plain {
            var names: Set<String> = []
            func note() { names.insert(threadName()) }
        }
        let plain = Plain()
        let names = await withTaskExecutorPreference(WorkerPool.shared) {
            await withTaskGroup(of: String.self) { group in
                for _ in 0..<1000 {
                    group.addTask {
                        await plain.note()
                        await Task.yield()
                        try? await Task.pause(for: .milliseconds(1))
                        return threadName()
                    }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
        }
        #expect(names == ["chute.pool"])
        #expect(await plain.names == ["chute.pool"])
    }

    @Test(arguments: [0, 1, 2, 9])
    func `each of a few is done once, and all before it returns`(count: Int) {
        let done = Mutex<[Int]>([])
        performTogether(count) { index in done.withLock { $0.append(index) } }
        #expect(done.withLock { $0.sorted() } == Array(0..<count))
    }
}

/// The name of the calling thread.
private func threadName() -> String {
    do {
        let path = BytePath("/proc/thread-self/comm")
        let bytes = try FileDescriptor.open(path, FileDescriptor.readOnly).read(count: 64, at: 0)
        return String(decoding: bytes, as: UTF8.self).trimmingSuffix("\n")
    } catch { return "\(error)" }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
