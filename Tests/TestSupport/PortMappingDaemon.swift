package import ChuteSystem
import Glibc

/// `miniupnpd` on a router of `HomeNetworks`, which passes ports on for those who ask.
package struct PortMappingDaemon: Sendable {
    /// What it may be asked by.
    package enum Method: String, CaseIterable, Sendable { case natPMP, upnp }

    private let router: NetworkNamespaces.Host
    private let program: RunningProgram

    /// Starts it, with its files in `folder`, and waits until it answers.
    package init(
        _ methods: [Method], on router: NetworkNamespaces.Host, in folder: BytePath
    ) async throws {
        self.router = router
        let file = folder.appending(BytePath("miniupnpd-\(router.namespace)"))
        func word(_ method: Method) -> String { methods.contains(method) ? "yes" : "no" }
        let configuration = """
            ext_ifname=eth0
            listening_ip=lan0
            http_port=5000
            enable_natpmp=\(word(.natPMP))
            enable_upnp=\(word(.upnp))
            min_lifetime=120
            max_lifetime=86400
            upnp_table_name=filter
            upnp_nat_table_name=filter
            upnp_forward_chain=miniupnpd
            upnp_nat_chain=prerouting_miniupnpd
            upnp_nat_postrouting_chain=postrouting_miniupnpd
            secure_mode=yes
            uuid=34eafe0c-64ae-41b5-8907-2ec300a2a68b
            allow 1024-65535 192.168.0.0/16 1024-65535
            deny 0-65535 0.0.0.0/0 0-65535

            """
        try SampleFiles.write(Array(configuration.utf8), to: file)
        let words: [BytePath] =
            router.prefix + [
                "/usr/sbin/miniupnpd", "-d", "-f", file, "-P",
                BytePath(bytes: file.bytes + Array(".pid".utf8)),
            ]
        let program = try RunningProgram(words[0], Array(words.dropFirst()))
        self.program = program
        do {
            try await eventually("miniupnpd answers") {
                try program.errorSoFar()
            } holds: {
                let said = try program.errorSoFar() + program.outputSoFar()
                return said.contains(
                    methods.contains(.natPMP) ? "Listening for NAT-PMP" : "HTTP listening")
            }
        } catch {
            try await stop()
            throw error
        }
    }

    /// The outer ports that are passed on, by `nft`.
    package func mappedPorts() throws -> [UInt16] {
        let run = try NetworkNamespaces.run(
            ["/usr/sbin/nft", "list", "chain", "inet", "filter", "prerouting_miniupnpd"],
            on: router)
        let words = String(decoding: run.output, as: UTF8.self).split { $0.isWhitespace }
        return words.indices.dropLast().filter { words[$0] == "dport" }
            .compactMap { UInt16(words[$0 + 1]) }
    }

    /// What it said so far.
    package var log: String { get throws { try program.errorSoFar() + program.outputSoFar() } }

    /// Ends it.
    package func stop() async throws {
        program.send(signal: SIGTERM)
        _ = try await program.finished()
    }

    /// Calls `body` while one runs on each of these routers.
    package static func with<Result>(
        _ methods: [Method], on routers: [NetworkNamespaces.Host],
        _ body: ([PortMappingDaemon]) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { folder in
            var daemons: [PortMappingDaemon] = []
            let result: Result
            do {
                for router in routers {
                    daemons.append(try await PortMappingDaemon(methods, on: router, in: folder))
                }
                result = try await body(daemons)
            } catch {
                for daemon in daemons { try await daemon.stop() }
                throw error
            }
            for daemon in daemons { try await daemon.stop() }
            return result
        }
    }
}
