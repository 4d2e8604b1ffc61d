import ChuteSystem

/// Who is here.
extension Replicator {
    /// A session that lives, as it is told of.
    struct Presence: Sendable {
        let device: DeviceID
        let metadata: Fields
        let connection: Peer.Connection
        /// The address that this device dialled; `nil` where the other one did.
        let dialled: String?
    }

    /// This device, then those with a session, in the order of their ids. Throws where the store
    /// cannot be read.
    func peers() async throws -> [Peer] {
        let here = Dictionary(grouping: present.values, by: \.device)
        let devices = here.keys.sorted()
        let own = context.store.device
        let names = try await context.reader.read { snapshot in
            try ([own] + devices).map { try snapshot.profile(of: $0)?.name }
        }
        let local = Peer(
            device: own, name: names[0], metadata: context.local.metadata, isLocal: true,
            connections: [])
        return [local]
            + zip(devices, names.dropFirst()).map { device, name in
                let sessions = here[device] ?? []
                return Peer(
                    device: device, name: name, metadata: sessions.first?.metadata ?? [:],
                    isLocal: false,
                    connections: sessions.map(\.connection).sorted { $0.since < $1.since })
            }
    }

    /// The peers now and after each change; ends with the engine.
    nonisolated func peerUpdates() -> AsyncStream<[Peer]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [Peer].self, bufferingPolicy: .bufferingNewest(1))
        let presence = context.presence.updates(of: .members)
        let diagnostics = context.diagnostics
        // The stream outlives this call; dropping it cancels the task. Between two changes nothing
        // of the engine is held, so that it can end.
        let task = Task(executorPreference: WorkerPool.shared) { [weak self] in
            var last: [Peer]?
            for await _ in presence {
                do {
                    guard let peers = try await self?.peers() else { break }
                    if peers != last { continuation.yield(peers) }
                    last = peers
                } catch let error as ChuteError where error.code == .closed {
                    break
                } catch { diagnostics.warning("the peers cannot be read: \(error)") }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
