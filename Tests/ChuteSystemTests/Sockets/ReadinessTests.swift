import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ChuteSystem

@Suite(.timeLimit(.minutes(2)))
struct ReadinessTests {
    @Test func `a connection that breaks off as it is let go does not end the program`() async {
        // libdispatch ended it in about one of some ten thousand such moments.
        await #expect(processExitsWith: .success) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let other = DispatchQueue(label: "chute.test.other.\(number)")
                        for _ in 0..<20_000 {
                            var pair = try Socket.pair()
                            let readiness = try Readiness(descriptor: pair.one.raw)
                            let raw = dup(pair.other.raw)
                            pair.other = FileDescriptor(owning: open("/dev/null", O_RDONLY))
                            other.async {
                                var byte: UInt8 = 1
                                _ = Glibc.write(raw, &byte, 1)
                                Glibc.close(raw)
                            }
                            _ = await readiness.wait(.read)
                            readiness.close()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
