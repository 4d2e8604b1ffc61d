@preconcurrency import Dispatch

extension SocketAddress {
    /// The addresses of the host in numbers, with the port, in the order that the system prefers.
    ///
    /// Asks on a thread of its own. Calls `getaddrinfo`.
    package func numericAddresses() async throws -> [SocketAddress] {
        try await resolvedElsewhere().compactMap(\.numeric)
    }

    /// The addresses of the host to connect to, in the order that the system prefers.
    ///
    /// Asks on a thread of its own. Calls `getaddrinfo`.
    func resolvedElsewhere() async throws -> [ResolvedAddress] {
        let queue = DispatchQueue(label: "chute.connect")
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try resolved(forListening: false) })
            }
        }
    }
}
