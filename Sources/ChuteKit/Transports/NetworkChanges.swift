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
        let heard = ChangeSignal()
        await withDiscardingTaskGroup { group in
            group.addTask { await self.watch(heard, diagnostics) }
            var isFirst = true  // says that it listens, and no more
            for await _ in heard.updates(of: .members) {
                if !isFirst {
                    do { try await Task.pause(for: Self.gathering) } catch { break }
                    signal.fire(.members)
                }
                isFirst = false
            }
        }
    }

    /// Looks at each word of the kernel: what comes and goes again within a moment is a change too,
    /// for a connection may have been made meanwhile.
    private func watch(_ heard: ChangeSignal, _ diagnostics: Diagnostics) async {
        while !Task.isCancelled {
            do {
                let monitor = try NetworkMonitor()
                var known = Socket.interfaceStates()
                signal.fire(.members)  // what changed before the watch
                while try await monitor.next() {
                    // The kernel tells of lifetimes and counters too.
                    let new = Socket.interfaceStates()
                    if new != known { heard.fire(.members) }
                    known = new
                }
            } catch is CancellationError {
                return
            } catch {
                diagnostics.debug("the kernel does not tell of network changes: \(error)")
                do { try await lookAround(heard) } catch { return }
            }
        }
    }

    private func lookAround(_ heard: ChangeSignal) async throws {
        let before = Socket.interfaceStates()
        try await Task.pause(for: Self.lookPause, tolerance: Self.lookPause / 2)
        if Socket.interfaceStates() != before { heard.fire(.members) }
    }
}
