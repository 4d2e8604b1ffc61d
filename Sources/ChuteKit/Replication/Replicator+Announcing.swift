import ChuteSystem

/// Where others find this device.
extension Replicator {
    /// Where the transports say that this device can be dialled, those of the best ones first.
    var ownAddresses: [String] {
        network.transports.sorted { $0.rank < $1.rank }
            .flatMap { (announced[$0.name] ?? []).prefix(Self.addressesOfEach) }
    }

    /// A transport with very many leaves room for the others'.
    private static let addressesOfEach = DeviceProfile.addressLimit / 3

    /// Keeps what this device publishes of its addresses true, until cancelled; the rest of its
    /// profile stays what it is. Throws where the store fails.
    nonisolated func announceAddresses() async throws {
        for await _ in transportChanges.updates(of: .members) { try await announce() }
    }

    private func announce() async throws {
        // One that has not said anything yet, or waits, may have the addresses that are published.
        let silent = running.values.map(\.transport).filter { announced[$0.name] == nil }
        let own = ownAddresses
        try await context.store.write { transaction in
            let known = try transaction.profile(of: transaction.device)
            let kept = (known?.addresses ?? []).filter { address in
                !own.contains(address) && silent.contains { $0.canDial(address) }
            }
            let addresses = Array((own + kept).prefix(DeviceProfile.addressLimit))
            guard known?.addresses ?? [] != addresses else { return }
            var profile =
                known
                ?? DeviceProfile(name: transaction.device.short, addresses: [], collections: [])
            profile.addresses = addresses
            try transaction.publish(profile)
        }
    }
}
