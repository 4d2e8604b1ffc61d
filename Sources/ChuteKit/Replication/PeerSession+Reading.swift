import ChuteSystem

/// One request that is being answered: where its bytes go.
struct Assembly {
    let request: PieceRequest
    let buffer: PieceBuffer
}

/// Taking frames in, one after the other.
extension PeerSession {
    func readFrames() async throws {
        while let frame = try await channel.next() {
            switch frame {
            case .unknown: break
            case .known(.piece, let payload): try receivePiece(payload)
            case .known(let type, let payload):
                try await receive(type, CBOR.decode(payload, limits: Self.frameLimits))
            }
            if !channel.hasWholeFrame { handOverPieces() }
        }
    }

    /// Gives the fetcher what came together, in one go.
    private func handOverPieces() {
        guard !arrived.isEmpty else { return }
        context.fetcher.received(arrived, from: self)
        arrived = []
    }

    /// Enough for the longest page and the longest list of any frame: what a changed document
    /// has in it is decoded by itself.
    private static let frameLimits = CBOR.Limits(itemCount: 1 << 17)

    private func receive(_ type: FrameType, _ body: CBOR) async throws {
        switch type {
        case .changes: try await receiveChanges(body)
        case .acknowledge:
            unacknowledged = max(0, unacknowledged - 1)
            wakeups.post(())
        case .want: try receiveWants(body)
        case .have:
            for item in body.arrayValue ?? [] {
                let holding = try Holding(cbor: item)
                askedRelays[holding.attachment] = nil
                await context.fetcher.peer(self, has: holding)
            }
        case .absent: receiveAbsent(body)
        case .relay: try receiveWishes(RelayWish.list(cbor: body))
        case .mismatch: try await receiveMismatch(body)
        case .confirm: try receiveInquiry(Confirm(cbor: body))
        case .confirmed: receive(try Confirmed(cbor: body))
        case .dialBack: try receive(DialBack(cbor: body))
        case .dialedBack: receive(try DialedBack(cbor: body))
        case .cancel: receiveCancel(body)
        case .ping:
            noteClock(body[1]?.uint)
            if body[0] != .bool(true) { try send(.ping, .map([0: .bool(true)])) }
        case .goodbye:
            throw SessionEnd.refused(GoodbyeReason(body[0]?.textValue ?? "unknown"))
        case .prove, .hello: throw WireError.unexpected("a second \(type)")
        case .piece: break
        }
    }

    private func receiveAbsent(_ body: CBOR) {
        let numbers = (body.arrayValue ?? []).compactMap {
            $0.uint.flatMap(UInt32.init(exactly:))
        }
        for number in numbers {
            brought.add(1, ordering: .relaxed)
            guard let assembly = assemblies.removeValue(forKey: number) else { continue }
            context.fetcher.absent(assembly.request, at: self)
        }
        receiveNoRelay(Set(numbers))
    }

    private func receiveChanges(_ body: CBOR) async throws {
        guard let peer else { return }
        let page = try ChangePage(cbor: body)
        var parts: [ReceivedPart] = []
        var refused: [WireError] = []
        for part in page.parts {
            do {
                let batch = try SignedBatch(header: part.header, signature: part.signature)
                var changes: [Change] = []
                for bytes in part.changes {
                    do { changes.append(try Change(bytes: bytes)) } catch { refused.append(error) }
                }
                parts.append(ReceivedPart(batch: batch, changes: changes))
            } catch { refused.append(error) }
        }
        let (received, wanted, restarts) = (parts, ownSubscription, streamRestarts)
        refused += try await context.store.write(durable: .withNext) { transaction in
            try transaction.receive(
                received, upTo: page.end, from: peer, subscription: wanted, restarts: restarts)
        }
        if !refused.isEmpty {
            let before = refusedChanges
            refusedChanges += refused.count
            // As often as their number doubles: whoever sends nothing else fills no log.
            if refusedChanges.leadingZeroBitCount < before.leadingZeroBitCount {
                let name = await context.reader.name(of: peer, context.diagnostics)
                context.diagnostics.warning(
                    "refused \(refusedChanges) changes from \(name) at \(address) so far: "
                        + "\(refused[0])")
            }
        }
        try send(.acknowledge, .map([0: .unsigned(page.end?.n ?? 0)]))
        try await endIfOutdated()
    }

    /// Ends a session whose stream has to begin anew: the next one asks for it.
    private func endIfOutdated() async throws {
        if case .joining = side { return }  // ends by itself, and is followed by another
        guard await context.store.streamRestarts != streamRestarts, let peer else { return }
        // Who does not belong here any more hears that, from the replicator.
        if await context.store.sharedKey == nil {
            guard await context.store.membership.isMember(peer) else { return }
        }
        end(.spaceChanged)
        throw SessionEnd.said(.spaceChanged)
    }

    private func receivePiece(_ payload: UnsafeRawBufferPointer) throws {
        let (number, offset, data) = try PieceFrame.read(payload)
        brought.add(data.count, ordering: .relaxed)
        // What was given up meanwhile still comes in; it is dropped.
        guard let assembly = assemblies[number] else { return }
        try assembly.buffer.append(data, at: offset)
        guard assembly.buffer.isFull else { return }
        assemblies[number] = nil
        arrived.append(assembly)
    }

    /// Asks for pieces; each goes on where its buffer ends.
    nonisolated func request(_ assemblies: [Assembly]) {
        enqueue { $0.ask(assemblies) }
    }

    private func ask(_ new: [Assembly]) {
        for assembly in new { assemblies[assembly.request.number] = assembly }
        for start in stride(from: 0, to: new.count, by: PieceRequest.limit) {
            let part = new[start..<min(start + PieceRequest.limit, new.count)].map(\.request)
            do { try send(.want, PieceRequest.cbor(Array(part))) } catch {
                channel.close()  // the reader ends the session, which gives all of it back
                return
            }
        }
    }

    /// How much came of what it was asked for, in bytes, counting an answer without any as one.
    nonisolated var broughtCount: Int { brought.load(ordering: .relaxed) }

    /// Whether anything that it was asked for has not come.
    nonisolated var owesSomething: Bool { owed.load(ordering: .relaxed) > 0 }

    /// Takes back all that is asked for of an attachment.
    nonisolated func cancel(_ attachment: AttachmentID) {
        cancel { $0.attachment == attachment }
    }

    /// Takes these back.
    nonisolated func cancel(_ requests: Set<FetchPlanner.TakenBack>) {
        cancel { requests.contains(.init(attachment: $0.attachment, piece: $0.piece)) }
    }

    private nonisolated func cancel(where isMeant: @escaping @Sendable (PieceRequest) -> Bool) {
        enqueue { session in
            let numbers = session.assemblies.filter { isMeant($0.value.request) }.keys.sorted()
            guard !numbers.isEmpty else { return }
            for number in numbers { session.assemblies[number] = nil }
            do {
                try session.send(.cancel, .array(numbers.map { .unsigned(UInt64($0)) }))
            } catch { session.channel.close() }
        }
    }

    /// Tells the peer that a piece of it was wrong: it looks at its file again.
    nonisolated func reportMismatch(_ attachment: AttachmentID, piece: UInt64) {
        enqueue { session in
            do {
                try session.send(
                    .mismatch,
                    .array([
                        .bytes(attachment.digest.bytes), .unsigned(attachment.byteCount),
                        .unsigned(piece),
                    ]))
            } catch { session.channel.close() }
        }
    }

    /// What came in of pieces that are not complete: they go on with another connection.
    func takePartials() -> [Assembly] {
        defer { assemblies = [:] }
        return assemblies.values.filter { $0.buffer.filled > 0 }
    }
}
