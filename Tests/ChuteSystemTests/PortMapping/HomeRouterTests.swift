import ChuteSystem
import TestSupport
import Testing

/// What routers answer, by NAT-PMP on loopback. Real ones are in the tests with namespaces.
@Suite(.timeLimit(.minutes(1)))
struct HomeRouterTests {
    private func withRouter(
        at address: String, _ answer: @escaping @Sendable ([UInt8]) -> RouterDouble.Answer?,
        _ body: (RouterDouble, HomeRouter) async throws -> Void
    ) async throws {
        let double = try RouterDouble(at: address, answer: answer)
        let result: Result<Void, any Error>
        do { result = .success(try await body(double, HomeRouter())) } catch {
            result = .failure(error)
        }
        double.stop()
        try result.get()
    }

    @Test func `a port is mapped as the router gives it, and taken back`() async throws {
        try await withRouter(at: "127.77.0.1") { request in
            guard request[1] == 2 else { return .init(rest: [192, 0, 2, 1]) }
            // Port 4041 in the place of the one that was asked for, for ten minutes.
            return .init(rest: request[4..<6] + [0x0F, 0xC9, 0, 0, 0x02, 0x58])
        } _: { double, router in
            let mapping = try await router.map(4040, at: double.gateway, preferring: 4040)
            #expect(mapping.external.description == "192.0.2.1:4041")
            #expect(mapping.internalPort == 4040)
            #expect(mapping.lease == .seconds(600))
            #expect(mapping.method == .natPMP)
            try await router.remove(mapping)
            #expect(
                double.requests == [
                    [0, 0], [0, 2, 0, 0, 0x0F, 0xC8, 0x0F, 0xC8, 0, 0, 0x0E, 0x10],
                    [0, 2, 0, 0, 0x0F, 0xC8, 0, 0, 0, 0, 0, 0],
                ])
        }
    }

    @Test func `a router with a private address of its own is asked for no port`() async throws {
        try await withRouter(at: "127.77.0.2") { _ in
            .init(rest: [100, 64, 7, 1])
        } _: {
            double, router in
            await #expect(throws: PortMappingError.behindAnother(address: "100.64.7.1")) {
                try await router.map(4040, at: double.gateway, preferring: 4040)
            }
            #expect(double.requests == [[0, 0]])
        }
    }

    @Test(arguments: [
        (UInt16(2), PortMappingError.refused(.natPMP, code: -51)), (3, .notConnected),
        (4, .refused(.natPMP, code: -53)),
    ])
    func `what a router refuses is an error of its own`(
        _ code: UInt16, _ expected: PortMappingError
    ) async throws {
        try await withRouter(at: "127.77.1.\(code)") { request in
            request[1] == 0
                ? .init(rest: [192, 0, 2, 1])
                : .init(code: code, rest: [UInt8](repeating: 0, count: 8))
        } _: { double, router in
            await #expect(throws: expected) {
                try await router.map(4040, at: double.gateway, preferring: 4040)
            }
        }
    }

    @Test func `who answers nothing by either way is no router`() async throws {
        let gateway = DefaultGateway(address: "127.77.0.9", interface: "lo")
        await #expect(throws: PortMappingError.noAnswer(gateway: "127.77.0.9")) {
            try await HomeRouter().map(4040, at: gateway, preferring: 4040)
        }
    }
}
