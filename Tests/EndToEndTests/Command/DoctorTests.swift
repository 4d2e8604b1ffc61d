import ChuteSystem
import Glibc
import TestSupport
import Testing

/// `chute doctor`: each part with what to do about it.
@Suite(.timeLimit(.minutes(1)))
struct DoctorTests {
    @Test func `it ends with 0 where all works, and with 69 and a remedy where something does not`()
        async throws
    {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", "127.0.0.1:0")
            let stopped = try await home.chute("doctor")
            #expect(stopped.exitCode == 69)
            #expect(stopped.output.contains(" run`"))
            try await withAgents(home) { _ in
                let well = try await home.chute("doctor")
                #expect(well.exitCode == 0, "\(well.output)")
                #expect(!well.output.contains("FAILS"))
                // Nobody listens there.
                let nobody = try FreePort.pair().0.address
                try home.edit("# connect = []", "connect = [\"\(nobody)\"]")
                try await eventually("it fails at that address") {
                    let result = try await home.chute("doctor")
                    let line = result.output.split(separator: "\n").first {
                        $0.hasPrefix("FAILS \(nobody)")
                    }
                    return result.exitCode == 69 && line?.contains(" -> ") ?? false
                }
                let json = try await home.chute("doctor", "--json")
                #expect(json.output.contains("\"outcome\": \"failed\""))
            }
        }
    }

    @Test(.enabled(if: NetworkNamespaces.areAvailable, "needs root and network namespaces"))
    func `a connected peer dials back to the port that is bound`() async throws {
        try await NetworkNamespaces.with(2) { networks in
            try await withAgentFolder { folder in
                let homes = try ["laptop", "pi"].enumerated().map { index, name in
                    try AgentHome(name, in: folder, network: networks[index])
                }
                let key = folder.appending("space.key")
                let address = BytePath("\(networks[0].address):4040")
                try await homes[0].setUp("--listen", address, "--shared-key", key)
                try await homes[1].setUp("--listen", "", "--connect", address, "--shared-key", key)
                for home in homes { try home.edit("# enabled = true", "enabled = false") }
                try await withAgents(homes[0], homes[1]) { _ in
                    try await eventually("connected") {
                        try await homes[0].status().peers.contains(where: \.connected)
                    }
                    let first = try await homes[0].chute("doctor")
                    #expect(
                        first.output.contains("ok    reached at \(address): by pi\n"),
                        "\(first.output)")
                    #expect(first.output.contains("ok    tcp: \(address)"), "\(first.output)")
                    #expect(first.output.contains("ok    clock beside pi"), "\(first.output)")
                    // The other one listens nowhere, and dials for this one.
                    let other = try await homes[1].chute("doctor")
                    #expect(other.output.contains("ok    \(address): answers"), "\(other.output)")
                    // Others are not kept waiting, and a limit is no lack of peers.
                    for _ in 0..<6 { _ = try await homes[0].chute("doctor") }
                    let often = try await homes[0].chute("doctor")
                    #expect(
                        often.output.contains("not tried: pi dialled for this device six times"),
                        "\(often.output)")
                }
            }
        }
    }

    @Test func `an agent that examines itself kept others waiting`() async throws {
        // A port with no room for one connection more: to dial it takes seconds.
        let silent = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
        try #require(listen(silent.descriptor.raw, 0) == 0)
        let only = try await Socket.connect(to: silent.address)
        let address = silent.address.description
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            try await home.setUp("--listen", "127.0.0.1:0", "--connect", BytePath(address))
            try await withAgents(home) { _ in
                let doctor = try home.start(["doctor"])
                try await eventually("it asks the agent") {
                    let path = home.path.appending("state/chute.db")
                    let database = try Connection(path: path, mode: .readOnly)
                    return try database.prepare(
                        "SELECT 1 FROM requests WHERE answer IS NULL"
                    ).first { _ in true } ?? false
                }
                let start = ContinuousClock.now
                #expect(try await home.chute("invite", "--json").exitCode == 0)
                #expect(ContinuousClock.now - start < .seconds(3))
                let result = try await doctor.finished()
                #expect(result.output.contains("FAILS \(address)"), "\(result.output)")
            }
        }
        _ = (silent.descriptor.raw, only.raw)
    }

    @Test func `a port that is taken and a file that is wrong are said`() async throws {
        try await withAgentFolder { folder in
            let home = try AgentHome("laptop", in: folder)
            let taken = try Socket.listen(at: SocketAddress(host: "127.0.0.1", port: 0))
            try await home.setUp("--listen", BytePath(taken.address.description))
            try await withAgents(home) { _ in
                let result = try await home.chute("doctor")
                #expect(result.exitCode == 69)
                #expect(result.output.contains("FAILS tcp: waits: "))
                try home.edit("[device]", "[devise]")
                try await eventually("it says what is wrong in the file") {
                    try await home.chute("doctor").output.contains("devise is an unknown section")
                }
            }
            _ = taken.descriptor.raw
        }
    }
}
