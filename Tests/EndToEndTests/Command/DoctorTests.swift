import ChuteSystem
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
