import ChuteSystem

/// What sessions report: who is there, and what comes in.
extension Fetcher {
    nonisolated func connected(_ peer: DeviceID, through session: PeerSession) {
        enqueue { fetcher in
            fetcher.sessions[peer] = session
            fetcher.brought[peer] = session.broughtCount
            let isRestricted = fetcher.isRestricted(peer)
            fetcher.carryOut(fetcher.planner.connected(peer, isRestricted: isRestricted))
            fetcher.askToLook()
            guard isRestricted else { return }
            // A task of its own, since pieces need not wait for what is looked up.
            Task { await fetcher.allowToHear(peer) }
        }
    }

    /// Who only sends is asked for what its own documents name: of nothing else may it hear.
    private nonisolated func isRestricted(_ peer: DeviceID) -> Bool {
        store.view(of: peer, .everything)?.isRestricted ?? true
    }

    private func allowToHear(_ peer: DeviceID) async {
        let attachments = Array(transfers.keys)
        do {
            let named = try await reader.read { try $0.named(attachments, by: peer) }
            carryOut(planner.allow(peer, toHearOf: named))
        } catch { diagnostics.warning("what a peer may be asked for was not read: \(error)") }
    }

    /// Lets those restricted peers hear of a transfer, in whose documents it is.
    func hearers(of attachment: AttachmentID) async throws -> Set<DeviceID> {
        let peers = planner.restricted
        guard !peers.isEmpty else { return [] }
        return try await reader.read { snapshot in
            try peers.filter { try !snapshot.named([attachment], by: $0).isEmpty }
        }
    }

    nonisolated func disconnected(
        _ peer: DeviceID, through session: PeerSession, partials: [Assembly]
    ) {
        enqueue { fetcher in
            guard fetcher.sessions[peer] === session else { return }
            fetcher.sessions[peer] = nil
            fetcher.brought[peer] = nil
            fetcher.forgetRelay(peer)
            for partial in partials where fetcher.transfers[partial.request.attachment] != nil {
                fetcher.partials.keep(partial)
            }
            // Those pieces are asked for again: what waits unchecked of them is only memory.
            for transfer in fetcher.transfers.values {
                transfer.unchecked.removeAll { $0.peer == peer }
            }
            fetcher.carryOut(fetcher.planner.disconnected(peer))
            fetcher.seekRelay(for: Array(fetcher.transfers.keys))
            fetcher.askToLook()
        }
    }

    /// Asks others for what slow peers do not bring.
    func lookAtSlowPeers() {
        let now = sessions.mapValues(\.broughtCount)
        let since = now.map { peer, count in (peer, count - (brought[peer] ?? 0)) }
        brought = now
        let (takenBack, assignments) = planner.look(
            brought: Dictionary(uniqueKeysWithValues: since),
            owing: Set(sessions.filter { $0.value.owesSomething }.keys))
        for (peer, requests) in takenBack { sessions[peer]?.cancel(Set(requests)) }
        carryOut(assignments)
    }

    /// Whole pieces, in the order in which they came.
    nonisolated func received(_ pieces: [Assembly], from session: PeerSession) {
        enqueue { fetcher in
            for piece in pieces { fetcher.take(piece.request, piece.buffer, from: session) }
        }
    }

    nonisolated func absent(_ request: PieceRequest, at session: PeerSession) {
        enqueue { fetcher in
            guard let peer = fetcher.peer(of: session) else { return }
            fetcher.noteAbsent(request, at: peer)
        }
    }

    /// Returns once that is taken in: who says more than the fetcher can take in is not read on.
    nonisolated func peer(_ session: PeerSession, has holding: Holding) async {
        await perform { fetcher in
            guard let peer = fetcher.peer(of: session) else { return }
            fetcher.relayOpen[holding.attachment] = nil
            fetcher.carryOut(fetcher.planner.has(holding, at: peer))
            fetcher.askToLook()
        }
    }

    func peer(of session: PeerSession) -> DeviceID? {
        sessions.first { $0.value === session }?.key
    }

    private func noteAbsent(_ request: PieceRequest, at peer: DeviceID) {
        let attachment = request.attachment
        carryOut(planner.absent(request.piece, of: attachment, at: peer))
        seekRelay(for: [attachment])
        askToLook()
        // It looked again after it sent a wrong piece, and has no right one.
        guard let transfer = transfers[attachment], planner.hasSentWrong(attachment, from: peer)
        else { return }
        report(mismatchOf: transfer, from: peer, isFinal: true)
    }

    private func take(_ request: PieceRequest, _ buffer: PieceBuffer, from session: PeerSession) {
        guard let peer = peer(of: session), let transfer = transfers[request.attachment] else {
            return
        }
        guard let piece = request.piece else {
            return takeLayer(Array(buffer.bytes), of: transfer, from: peer, session)
        }
        if transfer.layer == nil, transfer.pieceCount > 1 {
            // It came before the layer by which it is checked.
            transfer.unchecked.append((piece, buffer, peer))
            return
        }
        check(piece, buffer, of: transfer, from: peer)
    }

    /// Says what a device did, by its name: in a task of its own, since pieces need not wait for it.
    private func warn(of peer: DeviceID, _ words: String) {
        Task {
            let name = await reader.name(of: peer, diagnostics)
            diagnostics.warning("\(name) \(words)")
        }
    }

    private func takeLayer(
        _ layer: [UInt8], of transfer: FetchTransfer, from peer: DeviceID, _ session: PeerSession
    ) {
        let attachment = transfer.attachment
        guard
            PieceTree.isPieceLayer(
                layer, ofID: attachment.digest.bytes, length: attachment.byteCount)
        else {
            warn(of: peer, "sent wrong hashes for \(attachment)")
            let (assignments, isLiar) = planner.failed(nil, of: attachment, from: peer)
            report(mismatchOf: transfer, from: peer, isFinal: isLiar)
            return carryOut(assignments)
        }
        transfer.layer = layer
        carryOut(planner.finished(nil, of: attachment, from: peer))
        let early = transfer.unchecked
        transfer.unchecked = []
        for (piece, buffer, sender) in early { check(piece, buffer, of: transfer, from: sender) }
        // For a later start, and for those who fetch from here. A task of its own, since bytes
        // need not wait for the disk; losing it costs fetching it again.
        Task {
            do {
                try await store.write { try $0.store(layer: layer, of: attachment) }
            } catch { diagnostics.warning("the hashes of \(attachment) were not kept: \(error)") }
        }
    }

    private func check(
        _ piece: UInt64, _ buffer: PieceBuffer, of transfer: FetchTransfer, from peer: DeviceID
    ) {
        let attachment = transfer.attachment
        guard transfer.isRight(piece, buffer, with: hasher) else {
            let (assignments, isLiar) = planner.failed(piece, of: attachment, from: peer)
            warn(
                of: peer,
                "sent a wrong piece of \(attachment)"
                    + (isLiar ? " again: it is not asked for it any more" : ""))
            report(mismatchOf: transfer, from: peer, isFinal: isLiar)
            sessions[peer]?.reportMismatch(attachment, piece: piece)
            return carryOut(assignments)
        }
        do throws(SystemError) {
            if let file = try transfer.directFile(for: buffer, in: roots) {
                return write(piece, buffer, of: attachment, from: peer, to: file)
            }
            try transfer.write(piece, buffer, in: roots)
        } catch { return giveUp(transfer, error) }
        take(piece, of: transfer, from: peer)
    }

    /// Writes on a thread of its own while the next piece is hashed here.
    private func write(
        _ piece: UInt64, _ buffer: PieceBuffer, of attachment: AttachmentID,
        from peer: DeviceID, to file: DirectFile
    ) {
        writing.async {
            let failure: SystemError?
            do throws(SystemError) {
                try file.write(buffer, at: piece * UInt64(PieceTree.pieceByteCount))
                failure = nil
            } catch { failure = error }
            self.enqueue { fetcher in
                guard let transfer = fetcher.transfers[attachment], transfer.direct === file
                else { return }
                if let failure { return fetcher.giveUp(transfer, failure) }
                fetcher.take(piece, of: transfer, from: peer)
            }
        }
    }

    private func giveUp(_ transfer: FetchTransfer, _ error: SystemError) {
        // Its file is that of the first want: the others begin with their own.
        let hearers = drop(transfer.attachment)
        pause(transfer.wants[0], error)
        begin(transfer.wants.dropFirst(), layer: transfer.layer, hearers: hearers)
    }

    /// A piece is right and in its file.
    private func take(_ piece: UInt64, of transfer: FetchTransfer, from peer: DeviceID) {
        let attachment = transfer.attachment
        transfer.mark(piece)
        relays.with { $0.progressed(attachment, now: RelayTable.now) }
        if transfer.pieceCount > 1 {
            progress.received(transfer.doneByteCount, of: attachment, from: peer)
            if transfer.doneCount % 16 == 1 { store.look(at: .locations) }
            askToLook()
        }
        carryOut(planner.finished(piece, of: attachment, from: peer))
        finishIfComplete(transfer)
    }

    private func report(
        mismatchOf transfer: FetchTransfer, from peer: DeviceID, isFinal: Bool
    ) {
        askToLook()
        // Many pieces may be wrong: what is final is said once.
        if isFinal, !transfer.judged.insert(peer).inserted { return }
        for want in transfer.wants {
            end(
                FetchOutcome(
                    want: want, result: .mismatch(from: peer, isFinal: isFinal), layer: []))
        }
    }
}
