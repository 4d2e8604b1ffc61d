/// Decides which piece is asked of which peer. A value without I/O or clock.
///
/// Every peer that has a piece may serve it. What is in flight is bounded per peer, so that
/// memory depends neither on the size of files nor on their number.
struct FetchPlanner {
    /// One thing to ask of one peer.
    struct Assignment: Hashable {
        let peer: DeviceID
        let attachment: AttachmentID
        /// `nil` for the piece layer.
        let piece: UInt64?
    }

    struct Limits: Sendable {
        var requestsPerPeer = 256
        var bytesPerPeer = 8 << 20
    }

    let limits: Limits
    var transfers: [AttachmentID: Transfer] = [:]
    var peers: [DeviceID: Peer] = [:]
    /// Peers that are asked for nothing but what they may hear of.
    private(set) var restricted: Set<DeviceID> = []

    init(limits: Limits = Limits()) { self.limits = limits }

    var attachments: Dictionary<AttachmentID, some Any>.Keys { transfers.keys }

    /// How many requests are under way, to all peers.
    var inFlightCount: Int { peers.values.reduce(0) { $0 + $1.requestCount } }

    func isFetching(_ attachment: AttachmentID) -> Bool { transfers[attachment] != nil }

    /// Whether nobody who is connected is known to have, or may have, what is still open.
    func isStalled(_ attachment: AttachmentID) -> Bool {
        guard let transfer = transfers[attachment] else { return false }
        return transfer.isIdle && transfer.hasOpen
            && !peers.keys.contains { standing(of: $0, transfer) != .absent }
    }

    func standing(of peer: DeviceID, _ transfer: Transfer) -> Standing {
        transfer.standing(of: peer, restricted.contains(peer))
    }

    /// Lets a restricted peer hear of these.
    mutating func allow(
        _ peer: DeviceID, toHearOf attachments: some Sequence<AttachmentID>
    ) -> [Assignment] {
        for attachment in attachments {
            guard transfers[attachment]?.hearers.insert(peer).inserted ?? false else { continue }
            offer(attachment)
        }
        return fillAll()
    }

    /// Starts fetching `pieces` of an attachment, and its layer where that is not known.
    mutating func add(
        _ attachment: AttachmentID, pieces: some Sequence<UInt64>, needsLayer: Bool,
        source: DeviceID?, priority: FetchPriority = .normal, hearers: Set<DeviceID> = []
    ) -> [Assignment] {
        guard transfers[attachment] == nil else { return [] }
        transfers[attachment] = Transfer(
            attachment: attachment, source: source, priority: priority, needsLayer: needsLayer,
            open: pieces.reversed(), hearers: hearers)
        offer(attachment)
        return fillAll()
    }

    /// Lets what is still open of a transfer go before that of others, or after. What waits in a
    /// queue already is moved ahead, never back.
    mutating func setPriority(_ priority: FetchPriority, of attachment: AttachmentID) {
        guard transfers[attachment] != nil else { return }
        transfers[attachment]?.priority = priority
        offer(attachment)
    }

    /// The restricted peers that may hear of an attachment.
    func hearers(of attachment: AttachmentID) -> Set<DeviceID> {
        transfers[attachment]?.hearers ?? []
    }

    /// The connected peers that said that they have something of an attachment.
    func holders(of attachment: AttachmentID) -> Set<DeviceID> {
        guard let transfer = transfers[attachment] else { return [] }
        return Set(
            transfer.standings.compactMap { peer, standing in
                if case .has = standing { peer } else { nil }
            })
    }

    /// More pieces of a transfer that is under way: staged bytes that turned out wrong.
    mutating func reopen(_ pieces: [UInt64], of attachment: AttachmentID) -> [Assignment] {
        guard transfers[attachment] != nil else { return [] }
        transfers[attachment]?.open.append(contentsOf: pieces)
        offer(attachment)
        return fillAll()
    }

    /// The peers that are asked for something of an attachment.
    func askedPeers(for attachment: AttachmentID) -> Set<DeviceID> {
        guard let transfer = transfers[attachment], !transfer.isIdle else { return [] }
        return Set(transfer.inFlight.values).union([transfer.layerFrom].compactMap(\.self))
    }

    /// Ends a transfer; what is in flight for it is dropped when it comes in, and others go on in
    /// its place.
    mutating func remove(_ attachment: AttachmentID) -> [Assignment] {
        guard let transfer = transfers.removeValue(forKey: attachment), !transfer.isIdle else {
            return []
        }
        for (piece, peer) in transfer.inFlight { uncount(peer, attachment, piece) }
        if let peer = transfer.layerFrom { uncount(peer, attachment, nil) }
        return fillAll()
    }

    /// A connection to a peer, in the place of an earlier one: what that one was asked for is
    /// open again.
    mutating func connected(_ peer: DeviceID, isRestricted: Bool = false) -> [Assignment] {
        forget(peer)
        peers[peer] = Peer(window: limits.bytesPerPeer)
        if isRestricted { restricted.insert(peer) }
        return offerAll()
    }

    mutating func disconnected(_ peer: DeviceID) -> [Assignment] {
        let layers = transfers.filter { $0.value.layerFrom == peer }.keys.sorted()
        forget(peer)
        return layers.flatMap { askForLayer(of: $0) } + offerAll()
    }

    private mutating func forget(_ peer: DeviceID) {
        restricted.remove(peer)
        guard peers.removeValue(forKey: peer) != nil else { return }
        for attachment in transfers.keys {
            guard var transfer = transfers[attachment] else { continue }
            transfer.standings[peer] = nil
            transfer.hearers.remove(peer)
            let lost = transfer.inFlight.filter { $0.value == peer }.keys.sorted(by: >)
            for piece in lost { transfer.inFlight[piece] = nil }
            transfer.open.append(contentsOf: lost)
            if transfer.layerFrom == peer { transfer.layerFrom = nil }
            transfers[attachment] = transfer
        }
    }

    mutating func offerAll() -> [Assignment] {
        for attachment in transfers.keys.sorted() { offer(attachment) }
        return fillAll()
    }

    private mutating func fillAll() -> [Assignment] {
        peers.keys.sorted().flatMap { fill($0) }
    }

    /// A piece came in and was right; the transfer goes on with whoever is free.
    mutating func finished(
        _ piece: UInt64?, of attachment: AttachmentID, from peer: DeviceID
    ) -> [Assignment] {
        // What was taken back meanwhile, or is asked of another by now, was counted already.
        guard takeBack(piece, of: attachment, from: peer) else { return [] }
        if piece == nil { transfers[attachment]?.needsLayer = false }
        return fill(peer)
    }

    /// A piece came in and was wrong; `isLiar` is whether that peer is not asked again.
    mutating func failed(
        _ piece: UInt64?, of attachment: AttachmentID, from peer: DeviceID
    ) -> (assignments: [Assignment], isLiar: Bool) {
        guard takeBack(piece, of: attachment, from: peer) else { return ([], false) }
        if let piece { transfers[attachment]?.open.append(piece) }
        let count = (transfers[attachment]?.wrong[peer] ?? 0) + 1
        transfers[attachment]?.wrong[peer] = count
        if count > 1 { transfers[attachment]?.standings[peer] = .absent }
        offer(attachment)
        return (askForLayer(of: attachment) + fillAll(), count > 1)
    }

    /// The peer does not have what it was asked for.
    mutating func absent(
        _ piece: UInt64?, of attachment: AttachmentID, at peer: DeviceID
    ) -> [Assignment] {
        guard takeBack(piece, of: attachment, from: peer) else { return [] }
        if let piece { transfers[attachment]?.open.append(piece) }
        // Also where it had said otherwise: only what it says anew counts.
        transfers[attachment]?.standings[peer] = .absent
        offer(attachment)
        return askForLayer(of: attachment) + fillAll()
    }

    /// Asks another peer for a layer that is asked of nobody, whatever is in flight from it: what
    /// came of the attachment is checked by it, and holds the place of what is to come.
    mutating func askForLayer(of attachment: AttachmentID) -> [Assignment] {
        guard let transfer = transfers[attachment], transfer.needsLayer,
            transfer.layerFrom == nil
        else { return [] }
        let holders = lively(
            among: peers.keys.filter {
                let standing = standing(of: $0, transfer)
                return standing != .absent && standing.has(nil)
            })
        let peer = transfer.source.flatMap { holders.contains($0) ? $0 : nil } ?? holders.min()
        guard let peer else { return [] }
        transfers[attachment]?.layerFrom = peer
        peers[peer]?.requestCount += 1
        peers[peer]?.byteCount += Self.byteCount(of: nil, attachment)
        return [Assignment(peer: peer, attachment: attachment, piece: nil)]
    }

    /// Whether a piece that came from the peer was wrong.
    func hasSentWrong(_ attachment: AttachmentID, from peer: DeviceID) -> Bool {
        transfers[attachment]?.wrong[peer] != nil
    }

    /// The peer says what it has.
    mutating func has(_ holding: Holding, at peer: DeviceID) -> [Assignment] {
        guard peers[peer] != nil, transfers[holding.attachment]?.wrong[peer] ?? 0 < 2 else {
            return []
        }
        transfers[holding.attachment]?.standings[peer] = .has(holding)
        offer(holding.attachment)
        return fillAll()
    }

    /// Ends a request; `false` where that peer is not asked for that.
    mutating func takeBack(
        _ piece: UInt64?, of attachment: AttachmentID, from peer: DeviceID
    ) -> Bool {
        guard let transfer = transfers[attachment] else { return false }
        if let piece {
            guard transfer.inFlight[piece] == peer else { return false }
            transfers[attachment]?.inFlight[piece] = nil
        } else {
            guard transfer.layerFrom == peer else { return false }
            transfers[attachment]?.layerFrom = nil
        }
        uncount(peer, attachment, piece)
        return true
    }

    /// Puts an attachment into the queues of those who may have it: at first of its source
    /// alone, unless there is enough for several or the source is not there.
    mutating func offer(_ attachment: AttachmentID) {
        guard let transfer = transfers[attachment], transfer.hasOpen else { return }
        let candidates = lively(
            among: peers.keys.filter { standing(of: $0, transfer) != .absent })
        let isForMany = transfer.open.count >= 4
        let isForSource =
            transfer.source.map {
                candidates.contains($0) && transfer.isAll(at: standing(of: $0, transfer))
            } ?? false
        for peer in candidates.sorted() {
            if !isForMany, isForSource, peer != transfer.source { continue }
            peers[peer]?.queue.add(attachment, transfer.priority)
        }
    }

    /// Asks a peer for as much as may be in flight, once half of that has come: many pieces in
    /// one message cost little more than one.
    mutating func fill(_ id: DeviceID) -> [Assignment] {
        guard var peer = peers[id], peer.requestCount <= limits.requestsPerPeer / 2,
            peer.byteCount <= peer.window / 2
        else { return [] }
        var assignments: [Assignment] = []
        while peer.requestCount < limits.requestsPerPeer, peer.byteCount < peer.window,
            let attachment = peer.queue.first()
        {
            guard let piece = takePiece(of: attachment, for: id) else {
                peer.queue.removeFirst()
                continue
            }
            peer.requestCount += 1
            peer.byteCount += Self.byteCount(of: piece, attachment)
            assignments.append(Assignment(peer: id, attachment: attachment, piece: piece))
        }
        peers[id] = peer
        return assignments
    }

    /// The layer or the next open piece that the peer may have; the outer `nil` for none.
    private mutating func takePiece(of attachment: AttachmentID, for peer: DeviceID) -> UInt64?? {
        guard var transfer = transfers[attachment] else { return nil }
        let standing = standing(of: peer, transfer)
        if transfer.needsLayer, transfer.layerFrom == nil, standing.has(nil) {
            transfer.layerFrom = peer
            transfers[attachment] = transfer
            return .some(nil)
        }
        guard let index = transfer.open.lastIndex(where: { standing.has($0) }) else { return nil }
        let piece = transfer.open.remove(at: index)
        transfer.inFlight[piece] = peer
        transfers[attachment] = transfer
        return .some(piece)
    }

    private mutating func uncount(_ peer: DeviceID, _ attachment: AttachmentID, _ piece: UInt64?) {
        peers[peer]?.requestCount -= 1
        peers[peer]?.byteCount -= Self.byteCount(of: piece, attachment)
    }

    static func byteCount(of piece: UInt64?, _ attachment: AttachmentID) -> Int {
        guard let piece else {
            return PieceTree.layerByteCount(length: attachment.byteCount) ?? 0
        }
        return PieceTree.byteCount(ofPiece: piece, length: attachment.byteCount)
    }
}
