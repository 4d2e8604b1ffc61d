import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

@Suite(.timeLimit(.minutes(2)))
struct TCPTransportTests {
    private func addresses(of transport: TCPTransport) async throws -> [String] {
        try await withTemporaryDirectory { folder in
            let chute = try await Chute.open(
                identity: .paired, persistenceDirectory: folder.appending("home"),
                network: .init(transports: [transport]), diagnostics: .none)
            try await chute.startSync()
            if transport.listen != nil {
                try await eventually("it listens") { await !chute.ownAddresses.isEmpty }
            }
            let addresses = await chute.ownAddresses
            try await chute.close()
            return addresses
        }
    }

    @Test func `an address that is set is told beside those where it listens`() async throws {
        var transport = TCPTransport(listen: "127.0.0.1:0")
        transport.publicAddress = "home.example.org:4040"
        let found = try await addresses(of: transport)
        #expect(found.count == 2)
        #expect(found.first?.hasPrefix("127.0.0.1:") == true)
        #expect(found.last == "home.example.org:4040")
        transport.announced = ["192.0.2.1:1", "home.example.org:4040"]
        #expect(try await addresses(of: transport) == transport.announced)
        transport.listen = nil
        transport.announced = nil
        #expect(try await addresses(of: transport).isEmpty)
    }

    @Test func `an address that is none is refused, and for this link alone no router is asked`()
        throws
    {
        var transport = TCPTransport(listen: "127.0.0.1:0")
        transport.publicAddress = "home"
        #expect(throws: ChuteError.self) { try transport.check() }
        transport.publicAddress = nil
        transport.isPortMapped = true
        try transport.stayLocal()
        #expect(!transport.isPortMapped)
        transport.publicAddress = "192.0.2.1:4040"
        #expect(throws: ChuteError.self) { try transport.check() }
    }
}
