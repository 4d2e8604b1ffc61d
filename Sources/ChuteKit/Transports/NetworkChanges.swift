import ChuteSystem

/// Tells when the interfaces and addresses of this host changed.
struct NetworkChanges: Sendable {
    private let signal = ChangeSignal()
    /// Changes come in crowds: so long after the first one they are told.
    private static let gathering = Duration.milliseconds(200)
    /// Where the kernel does not tell, they are looked for.
    private static let lookPause = Duration.seconds(10)

    /// One element now, and one after each change.
    func updates() -> AsyncStream<Void> { signal.updates(of: .members) }

    /// Watches until cancelled.
    func run(_ diagnostics: Diagnostics) async {
        while !Task.isCancelled {
            do {
                let monitor = try NetworkMonitor()
                signal.fire(.members)  // what changed before the watch
                while try await monitor.next() {
                    try await Task.pause(for: Self.gathering)
                    try monitor.drain()
                    signal.fire(.members)
                }
            } catch is CancellationError {
                return
            } catch {
                diagnostics.debug("the kernel does not tell of network changes: \(error)")
                do { try await lookAround() } catch { return }
            }
        }
    }

    private func lookAround() async throws {
        let before = Socket.interfaceAddresses()
        try await Task.pause(for: Self.lookPause, tolerance: Self.lookPause / 2)
        if Socket.interfaceAddresses() != before { signal.fire(.members) }
    }
}
