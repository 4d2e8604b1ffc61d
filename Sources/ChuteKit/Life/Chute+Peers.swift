import ChuteSystem

/// Who is connected, and what devices say of themselves.
extension Chute {
    /// This device, then those that are connected now, in the order of their ids. Throws `closed`.
    public func peers() async throws -> [Peer] {
        try sync.checkOpen()
        return try await replicator.peers()
    }

    /// The peers now and after each change, the newest alone where the reader is slow. Ends with
    /// the engine, or when the reading task is cancelled.
    public func peerUpdates() -> AsyncStream<[Peer]> { replicator.peerUpdates() }

    /// Calls `handler` with the peers now and after each change, one call after the other, on no
    /// particular thread; until what is returned is cancelled or dropped, or the engine ends.
    ///
    /// A handler that takes long delays itself alone, and then gets the newest.
    public func observePeers(
        _ handler: @escaping @Sendable ([Peer]) -> Void
    ) -> PeerObserver {
        PeerObserver(peerUpdates(), handler)
    }

    /// What this device says of itself to those that it connects to from now on; nothing until
    /// `setPeerMetadata`, and again after each start.
    public var peerMetadata: Fields { context.local.metadata }

    /// Says something of this device to every member that it connects to from now on: at most
    /// 4 KiB as CBOR. Connections that are there keep what was said. Kept in memory alone.
    ///
    /// Throws `tooLarge`, `invalid` for fields that are no document, and `closed`.
    public func setPeerMetadata(_ metadata: Fields) throws {
        try sync.checkOpen()
        try context.local.setMetadata(metadata)
        context.presence.fire(.members)
    }

    /// Asked of each connection, made by either end, once its device has proved to be a member and
    /// said what it has to say, and before anything of the store is sent. `nil` allows all.
    ///
    /// No answer within 10 s is a refusal, and the task that it runs in is cancelled. Refused
    /// devices are told so and try again after growing pauses; connections that are there stay.
    /// Not asked of the inviter by whoever joins. May be set at any time, from anywhere.
    public var connectionHandler: (@Sendable (ConnectionRequest) async -> ConnectionRequest.Answer)?
    {
        get { context.local.gate.handler }
        set { context.local.gate.handler = newValue }
    }

    /// By how many seconds the clocks of connected devices are ahead of this one's, as they last
    /// said; negative where they are behind. Nothing is decided by it.
    public func clockLeads() async -> [DeviceID: Int64] {
        await replicator.clockLeads().mapValues { $0 / 1000 }
    }

    /// Asks all connected devices to dial an address of this one, `HOST:PORT`, and to say whether
    /// it answers there: what each of them found. Takes up to 15 s.
    ///
    /// They speak TLS as far as this device's key. Who is of an earlier version, is asked more than
    /// six times a minute, or does not dial such an address for others is left out: they dial
    /// public addresses, where the connection to this device comes from, and networks of their own
    /// that this device is in, too.
    public func isReachable(at address: String) async -> [DeviceID: Bool] {
        await reachability(at: address).compactMapValues(\.isReached)
    }

    /// The same, with why a device says nothing: all connected ones are in it.
    public func reachability(at address: String) async -> [DeviceID: Reachability] {
        await replicator.lookers(at: address)
    }

    /// How many devices are connected.
    var sessionCount: Int { get async { await replicator.sessionCount } }

    /// What is dialled now.
    var dialledAddresses: Set<String> { get async { await replicator.dialing } }
}
