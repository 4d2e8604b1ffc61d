import ChuteSystem
import Synchronization

/// Dials addresses for members that want to know whether they can be reached there.
///
/// Speaks TLS until the other end has shown its key, and says nothing of its own.
final class DialingBack: Sendable {
    private struct State {
        var limit = DialBackLimit()
        var transports: [any StreamTransport] = []
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now
    private let names: NameLookup
    private let timeout: Duration

    /// Names are looked up by `names`, whose limit keeps others from using up this device's threads,
    /// and each address has `timeout` altogether.
    init(names: NameLookup = NameLookup(limit: 4), timeout: Duration = .seconds(10)) {
        self.names = names
        self.timeout = timeout
    }

    /// Dials by these from now on.
    func use(_ transports: [any StreamTransport]) {
        state.withLock { $0.transports = transports }
    }

    /// Whether `device` answers at an address, which it says itself; its connection comes from
    /// `source`.
    func word(
        on text: String, for device: DeviceID, source: SocketAddress?, _ tls: TLSContext,
        _ diagnostics: Diagnostics
    ) async -> DialedBack.Word {
        let now = ContinuousClock.now - start
        guard state.withLock({ $0.limit.begin(device, now: now) }) else { return .notTried }
        defer { state.withLock { $0.limit.end(device) } }
        do {
            return try await withTimeout(timeout) {
                try await self.look(text, device, source, tls)
            }
        } catch {
            diagnostics.debug("dialled \(text) for a member: \(error)")
            return .notReached
        }
    }

    private func look(
        _ text: String, _ device: DeviceID, _ source: SocketAddress?, _ tls: TLSContext
    ) async throws -> DialedBack.Word {
        // Whatever is more than TCP would say more than TLS does.
        guard let address = SocketAddress(text) else { return .notTried }
        let rule = DialBackRule(source: source, networks: NetworkPrefix.ofInterfaces())
        let transports = state.withLock { $0.transports }
        let targets = try await names.numericAddresses(of: address).compactMap(rule.target(for:))
        var word = DialedBack.Word.notTried
        var failure: (any Error)?
        for target in targets {
            let text = target.description
            guard let transport = transports.first(where: { $0.canDial(text) }) else { continue }
            word = .notReached
            do {
                if try await Self.device(at: text, by: transport, tls) == device { return .reached }
            } catch { failure = error }
        }
        if let failure { throw failure }
        return word
    }

    /// Who shows a key at an address.
    private static func device(
        at address: String, by transport: any StreamTransport, _ tls: TLSContext
    ) async throws -> DeviceID {
        let stream = try await transport.connect(to: address)
        let readiness = try Readiness(descriptor: stream.descriptor.raw)
        defer { readiness.close() }
        let connection = try TLSStream(
            context: tls, role: .client, descriptor: stream.socket())
        while true {
            let direction: Readiness.Direction
            switch try connection.handshake() {
            case .done:
                connection.shutdown()
                return DeviceID(publicKey: connection.peerSPKI)
            case .wantsRead: direction = .read
            case .wantsWrite: direction = .write
            }
            guard await readiness.wait(direction) else { throw CancellationError() }
        }
    }
}
