import ChuteKit
import ChuteSystem

/// Looking for what does not work.
extension Agent {
    /// What the running agent finds, as `doctor` asks for it. Takes some seconds where addresses do
    /// not answer.
    func examine() async throws -> Fields {
        let configuration = configuration
        let names = try await chute.store.read { snapshot in
            Dictionary(
                try snapshot.members().map { ($0.id, $0.profile?.name ?? $0.id.short) },
                uniquingKeysWith: { one, _ in one })
        }
        let isAlone = configuration.device.sharedKey == nil && names.count < 2
        var findings = TransportStatus.all(configuration, await chute.transportStates)
            .compactMap { LiveChecks.transport($0, isAlone: isAlone) }
        let removers = await chute.removedBy.map { names[$0] ?? $0.short }.sorted()
        if let removal = LiveChecks.membership(removedBy: removers) { findings.append(removal) }
        let parts = await chute.networkParts
        findings += [
            LiveChecks.portMapping(configuration, parts.portMapping),
            LiveChecks.multicastDNS(
                configuration, parts.multicastSpeaker, hasDaemon: AvahiDaemonCheck.runs),
        ]
        async let reached = reachedAddresses(names)
        findings += await dialledAddresses(configuration)
        for (device, lead) in await chute.clockLeads().sorted(by: { $0.key < $1.key }) {
            findings.append(LiveChecks.clock(names[device] ?? device.short, lead: lead))
        }
        findings += await reached
        let trouble = current.withLock { $0.trouble }
        for problem in trouble?.problems ?? [] {
            findings.append(.wrongConfiguration(problem))
        }
        return [
            "findings": .array(findings.map(\.value)),
            "configuration": .optional(trouble.map { .bytes($0.text) }),
        ]
    }

    /// Whether others reach this device. Where nobody answers the first question, no other is asked.
    private func reachedAddresses(_ names: [DeviceID: String]) async -> [Finding] {
        var findings: [Finding] = []
        for address in Self.addressesToTry(await chute.ownAddresses) {
            let answers = await chute.reachability(at: address).map { device, word in
                (names[device] ?? device.short, word)
            }
            findings.append(LiveChecks.dialledBack(address, answers))
            if !answers.isEmpty, answers.allSatisfy({ $0.1 == .silent }) { break }
        }
        return findings
    }

    /// Which of its addresses others are asked to dial: those that can be reached from anywhere
    /// first, and few, since each may take ten seconds.
    static func addressesToTry(_ addresses: [String]) -> [String] {
        let known = addresses.compactMap(SocketAddress.init).filter { !$0.isOfThisLink }
        let (inner, outer) = (known.filter(\.isPrivate), known.filter { !$0.isPrivate })
        return (outer + inner).prefix(addressLimit).map(\.description)
    }

    private static let addressLimit = 2

    private func dialledAddresses(_ configuration: Configuration) async -> [Finding] {
        let addresses = configuration.chuteNetwork.transports.flatMap(\.connect)
        return await withTaskGroup(of: (Int, Finding).self) { group in
            for (index, address) in addresses.enumerated() {
                group.addTask {
                    var failure: String?
                    do { try await self.chute.probe(address) } catch { failure = "\(error)" }
                    return (index, LiveChecks.address(address, failure: failure))
                }
            }
            var found: [(Int, Finding)] = []
            for await finding in group { found.append(finding) }
            return found.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
