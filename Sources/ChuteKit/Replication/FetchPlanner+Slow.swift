/// Peers that bring nothing, or little: what they were asked for goes to others.
extension FetchPlanner {
    /// What a peer is not asked for any more.
    struct TakenBack: Hashable {
        let attachment: AttachmentID
        /// `nil` for the piece layer.
        let piece: UInt64?
    }

    /// Those that answer, or all where none does.
    func lively(among candidates: [DeviceID]) -> [DeviceID] {
        let lively = candidates.filter { !(peers[$0]?.isMute ?? false) }
        return lively.isEmpty ? candidates : lively
    }

    /// Looks, now and then, at what each peer brought since the last look, in bytes; what was taken
    /// back from whom, and what is asked of others instead. `owing` are those of whom anything has not
    /// come: what came and waits for the hashes by which it is checked counts as in flight too.
    ///
    /// Of one that brought nothing everything is taken back that somebody else may have: it may be
    /// asleep, or wish no good. One that brings little keeps as many pieces as it brings between two
    /// looks, where others that have the rest have nothing to do.
    mutating func look(
        brought: [DeviceID: Int], owing: Set<DeviceID>
    ) -> (takenBack: [DeviceID: [TakenBack]], assignments: [Assignment]) {
        var takenBack: [DeviceID: [TakenBack]] = [:]
        var hasChanged = false
        for peer in peers.keys.sorted() {
            let count = brought[peer] ?? 0
            let (wasMute, wasAsked) = (peers[peer]?.isMute ?? false, peers[peer]?.wasAsked ?? false)
            peers[peer]?.wasAsked = owing.contains(peer)
            if count > 0 { peers[peer]?.isMute = false }
            // What it was asked for a moment ago may still come.
            if owing.contains(peer), wasAsked {
                if count == 0 {
                    peers[peer]?.isMute = true
                } else {
                    peers[peer]?.window = min(
                        limits.bytesPerPeer, max(2 * count, 2 * PieceTree.pieceByteCount))
                }
                let lost = takeBack(from: peer, whoBrought: count)
                if !lost.isEmpty { takenBack[peer] = lost }
            }
            guard peers[peer]?.isMute != wasMute else { continue }
            hasChanged = true
            if !wasMute { peers[peer]?.queue = FetchQueue() }
        }
        guard hasChanged || !takenBack.isEmpty else { return ([:], []) }
        for attachment in transfers.keys.sorted() { offer(attachment) }
        let layers = takenBack.values.joined().filter { $0.piece == nil }.map(\.attachment)
        var assignments = Set(layers).sorted().flatMap { askForLayer(of: $0) }
        // Who gave something back would take it again.
        for peer in peers.keys.sorted() where takenBack[peer] == nil {
            assignments += fill(peer)
        }
        return (takenBack, assignments)
    }

    private mutating func takeBack(from peer: DeviceID, whoBrought count: Int) -> [TakenBack] {
        let others = peers.keys.filter { other in
            guard other != peer, let known = peers[other], !known.isMute else { return false }
            return count == 0 || known.requestCount == 0
        }
        guard !others.isEmpty else { return [] }
        // Small files are on their way by the hundred, and which are next is not known here; what
        // waits for the hashes by which it is checked has come.
        let concerned = transfers.values.filter { transfer in
            (count == 0 || !transfer.isSmall && !transfer.needsLayer)
                && (transfer.layerFrom == peer || transfer.inFlight.values.contains(peer))
        }
        var lost: [TakenBack] = []
        var kept = count
        for transfer in concerned.sorted(by: { $0.attachment < $1.attachment }) {
            let attachment = transfer.attachment
            func mayBeHad(_ piece: UInt64?) -> Bool {
                others.contains { standing(of: $0, transfer).has(piece) }
            }
            if count == 0, transfer.layerFrom == peer, mayBeHad(nil),
                takeBack(nil, of: attachment, from: peer)
            {
                lost.append(TakenBack(attachment: attachment, piece: nil))
            }
            // The first ones were asked for first.
            for piece in transfer.inFlight.filter({ $0.value == peer }).keys.sorted() {
                defer { kept -= Self.byteCount(of: piece, attachment) }
                guard kept <= 0, mayBeHad(piece), takeBack(piece, of: attachment, from: peer)
                else { continue }
                transfers[attachment]?.open.append(piece)
                lost.append(TakenBack(attachment: attachment, piece: piece))
            }
        }
        return lost
    }
}
