import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// The identity without security stays on this host and link.
@Suite(.timeLimit(.minutes(1)))
struct DevelopmentTests {
    private func open(
        _ directory: BytePath, app: String = "pics", network: Chute.Network? = nil,
        log: TestEngine.LogLines = .init()
    ) async throws -> Chute {
        try await Chute.open(
            identity: .development(appName: app), persistenceDirectory: directory,
            network: network,
            diagnostics: Diagnostics { level, message in log.add("\(level): \(message)") })
    }

    @Test(arguments: [
        "[::]:4040", "0.0.0.0:4040", "192.168.1.5:4040", "[2001:db8::1]:4040", "example.org:1",
    ])
    func `an address beyond this link is refused before anything is made`(
        address: String
    ) async throws {
        try await withTemporaryDirectory { folder in
            let listens = Chute.Network(listen: address, isPortFixed: true, connect: [])
            let dials = Chute.Network(listen: nil, isPortFixed: true, connect: [address])
            for network in [listens, dials] {
                let error = await #expect(throws: ChuteError.self) {
                    _ = try await open(folder.appending("a"), network: network)
                }
                #expect(error?.code == .notLocal)
            }
            let made = try Folder(at: folder).status(of: "a")
            #expect(made == nil)
        }
    }

    @Test func `each opening warns, and the standard is to listen at loopback`() async throws {
        try await withTemporaryDirectory { folder in
            for _ in 0..<2 {
                let log = TestEngine.LogLines()
                let chute = try await open(folder.appending("a"), log: log)
                #expect(
                    log.all.contains { $0.hasPrefix("warning:") && $0.contains("NO SECURITY") })
                try await chute.startSync()
                guard case .running(let address?)? = await chute.transportStates["tcp"] else {
                    throw NeverHappened(what: "listening")
                }
                let own = try #require(SocketAddress(address))
                #expect(own.isOfThisLink)
                try await chute.close()
            }
        }
    }

    @Test func `engines of one name share, one of another name does not`() async throws {
        try await withTemporaryDirectory { folder in
            let one = try await open(folder.appending("a"))
            try await one.startSync()
            guard case .running(let address?)? = await one.transportStates["tcp"] else {
                throw NeverHappened(what: "listening")
            }
            let dials = Chute.Network(listen: nil, isPortFixed: true, connect: [address])
            let two = try await open(folder.appending("b"), network: dials)
            let log = TestEngine.LogLines()
            let other = try await open(
                folder.appending("c"), app: "chat", network: dials, log: log)
            try await two.startSync()
            try await other.startSync()
            try await eventually("connected") { await one.sessionCount == 1 }
            try await eventually("refused") {
                log.all.contains { $0.contains("hung up") || $0.contains("shared key") }
            }
            try await eventually("one knows of two alone") {
                try await one.peers().map(\.device) == [one.device, two.device]
            }
            #expect(await other.sessionCount == 0)
            for chute in [one, two, other] { try await chute.close() }
        }
    }

    @Test func `what is dialled and who is let in is looked at by its number`() async throws {
        var transport = TCPTransport()
        #expect(transport.canDial("10.0.0.1:1"))
        try transport.stayLocal()
        #expect(transport.canDial("127.0.0.1:1"))
        #expect(!transport.canDial("10.0.0.1:1"))
        // An own address beyond loopback is the nearest that is not of this link.
        guard let own = Socket.interfaceAddresses().first(where: { !$0.isOfThisLink }) else {
            return
        }
        let socket = try Socket.listen(at: SocketAddress(host: own.host, port: 0))
        let error = await #expect(throws: ChuteError.self) {
            _ = try await transport.connect(to: socket.address.description)
        }
        #expect(error?.code == .notLocal)
        _ = socket.descriptor.raw
    }
}
