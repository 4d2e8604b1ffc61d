import Synchronization

/// Looks names up on threads of its own: `getaddrinfo` blocks for as long as name servers keep
/// silent, and nothing ends it.
///
/// ## Concurrency
/// Any task may ask. One that is cancelled is let go at once; its look-up goes on by itself, and
/// counts among the others until it ends.
package final class NameLookup: Sendable {
    /// Blocks until it has the addresses of a host, in the order that the system prefers.
    package typealias Resolve = @Sendable (SocketAddress) throws -> [ResolvedAddress]

    /// For connections that this device makes for itself.
    package static let own = NameLookup(limit: 64)

    private let limit: Int
    private let resolve: Resolve
    private let openCount = Mutex(0)

    /// At most `limit` look-ups are open at a time, those that nobody waits for any more among them.
    /// Calls `getaddrinfo`, unless `resolve` is given.
    package init(
        limit: Int,
        resolve: @escaping Resolve = { address in try address.resolved(forListening: false) }
    ) {
        self.limit = limit
        self.resolve = resolve
    }

    /// The addresses of the host in numbers, with the port, in the order that the system prefers.
    ///
    /// Throws `ResolutionError`, also where too many look-ups are open, and `CancellationError`.
    package func numericAddresses(of address: SocketAddress) async throws -> [SocketAddress] {
        try await addresses(of: address).compactMap(\.numeric)
    }

    /// The addresses of the host to connect to; throws as above.
    func addresses(of address: SocketAddress) async throws -> [ResolvedAddress] {
        try Task.checkCancellation()
        // A number asks nobody.
        if address.isNumeric { return try address.resolved(forListening: false) }
        guard begin() else {
            throw ResolutionError(host: address.host, reason: "too many names are looked up")
        }
        let answer = Answer()
        do throws(SystemError) {
            try WorkThread.startUnattended("chute.lookup") { [resolve] in
                let result = Result { try resolve(address) }
                self.end()
                answer.give(result)
            }
        } catch {
            end()
            throw error
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { answer.await(by: $0) }
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }
    }

    private func begin() -> Bool {
        openCount.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    private func end() { openCount.withLock { $0 -= 1 } }

    /// Hands the first result over to who waits; later ones are of no use.
    private final class Answer: Sendable {
        typealias Waiter = CheckedContinuation<[ResolvedAddress], any Error>

        private enum State {
            case open(Waiter?)
            case given(Result<[ResolvedAddress], any Error>)
            case taken
        }

        private let state = Mutex(State.open(nil))

        func give(_ result: Result<[ResolvedAddress], any Error>) {
            let waiter = state.withLock { state -> Waiter? in
                guard case .open(let waiter) = state else { return nil }
                state = waiter == nil ? .given(result) : .taken
                return waiter
            }
            waiter?.resume(with: result)
        }

        func await(by waiter: Waiter) {
            let result = state.withLock { state -> Result<[ResolvedAddress], any Error>? in
                guard case .given(let result) = state else {
                    state = .open(waiter)
                    return nil
                }
                state = .taken
                return result
            }
            if let result { waiter.resume(with: result) }
        }
    }
}
