import ChuteSystem
@preconcurrency import Dispatch
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct NameLookupTests {
    @Test func `a number is looked up without asking anybody`() async throws {
        let nobody = NameLookup(limit: 0) { _ in
            throw CancellationError()
        }
        for text in ["192.0.2.7:4040", "127.0.0.1:1", "[::1]:2"] {
            let address = try #require(SocketAddress(text))
            #expect(try await nobody.numericAddresses(of: address) == [address])
        }
    }

    @Test func `the host's own name is found`() async throws {
        let found = try await NameLookup.own.numericAddresses(
            of: SocketAddress(host: "localhost", port: 7))
        #expect(!found.isEmpty && found.allSatisfy { $0.isOfThisLink && $0.port == 7 })
    }

    @Test func `one that is cancelled is let go while it is still looked up, and counts`()
        async throws
    {
        let gate = DispatchSemaphore(value: 0)
        let began = Mailbox<Void>()
        let names = NameLookup(limit: 1) { _ in
            began.post(())
            gate.wait()
            gate.signal()
            return []
        }
        let address = SocketAddress(host: "name.invalid", port: 1)
        let waiting = Task { try await names.numericAddresses(of: address) }
        #expect(await began.next().count == 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await #expect(throws: ResolutionError.self) {
            try await names.numericAddresses(of: address)
        }
        gate.signal()
        try await eventually("there is room for another one") {
            do {
                return try await names.numericAddresses(of: address).isEmpty
            } catch is ResolutionError { return false }
        }
    }
}
