import ChuteSystem

/// Where others find this device.
extension Replicator {
    /// The address at which it listens, or those of all interfaces but loopback at its port,
    /// without the link-local ones of IPv6, which mean nothing elsewhere. None while it does not
    /// listen.
    var ownAddresses: [String] {
        guard case .listening(let text)? = listenState, let own = SocketAddress(text)
        else { return [] }
        guard ["::", "0.0.0.0"].contains(own.host) else { return [text] }
        return Socket.interfaceAddresses()
            .filter { !$0.host.hasPrefix("fe80:") && (own.host == "::" || !$0.host.contains(":")) }
            .map { SocketAddress(host: $0.host, port: own.port).description }
    }

    /// Keeps what this device publishes of its addresses true, until cancelled; the rest of its
    /// profile stays what it is. Throws where the store fails.
    nonisolated func announceAddresses() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in self.listenChanges.updates(of: .members) {
                    try await self.announce()
                }
            }
            group.addTask {
                // Interfaces come and go without a word.
                while true {
                    try await Task.pause(for: .seconds(60), tolerance: .seconds(30))
                    try await self.announce()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func announce() async throws {
        if case .waiting? = listenState { return }  // it is tried again
        guard listenState != nil || network.listen == nil else { return }
        let addresses = network.announce ?? ownAddresses
        try await context.store.write { transaction in
            let known = try transaction.profile(of: transaction.device)
            guard known?.addresses ?? [] != addresses else { return }
            var profile =
                known
                ?? DeviceProfile(name: transaction.device.short, addresses: [], collections: [])
            profile.addresses = addresses
            try transaction.publish(profile)
        }
    }
}
