import ChuteSystem

/// Sending what waits: changes and pieces, after control.
extension PeerSession {
    /// Pages of changes that may be on their way without an answer.
    private static let pagesInFlight = 4
    private static let silentRowLimit: UInt64 = 1024
    private static let interestLimit = 65_536
    /// How much longer than a look for what the peer asked for the pause after it is.
    private static let pausePerLook = 4
    private static let servingLimit = 4096
    /// So many requests, for so many bytes, are looked up together.
    private static let lookUpLimit = 64
    private static let lookUpByteCount: UInt64 = 4 << 20

    func writeWhatWaits() async throws {
        while !Task.isCancelled {
            try await channel.drain()
            if hasNewChanges, unacknowledged < Self.pagesInFlight {
                try await sendChanges()
            } else if owesInterestLook, ContinuousClock.now >= nextInterestLook {
                owesInterestLook = false
                if let view = currentView() { try await tellInterested(view.scope) }
            } else if servingHead < serving.count {
                // Taken before anything is awaited: a `cancel` may empty the queue meanwhile.
                let request = serving[servingHead]
                servingHead += 1
                try await serve(request)
            } else if channel.hasUnsent {
                // Nobody else sends the rest of what the socket did not take at once.
                try await channel.drain(to: 0)
            } else {
                blobs.closeRoots()
                guard await !wakeups.next().isEmpty else { return }
            }
        }
    }

    private func sendChanges() async throws {
        guard let peer else { return }
        hasNewChanges = false
        guard let view = currentView() else { return }
        try await tellInterested(view.scope)
        if sentThrough == 0, !isIntroduced {
            isIntroduced = true
            let page = try await context.reader.read { try $0.introduction(view: view) }
            unacknowledged += 1
            try channel.send(.changes, page.cbor)
        }
        let (after, since) = (sentThrough, learnedBefore)
        let pages = try await context.reader.read {
            try $0.changes(after: after, for: peer, since: since, view: view)
        }
        guard let end = pages.last?.end else { return }
        hasNewChanges = true
        // What was read for another view is not sent.
        guard currentView() == view else { return }
        sentThrough = end.n
        // Of a stream of which nothing is for this peer it hears now and then how far it came.
        let isFarOn = view != .everything && sentThrough - toldThrough >= Self.silentRowLimit
        for page in pages where !page.parts.isEmpty || isFarOn {
            if page.end != nil { toldThrough = end.n }
            unacknowledged += 1
            try channel.send(.changes, page.cbor)
        }
    }

    func receiveWants(_ body: CBOR) throws {
        let requests = try PieceRequest.list(cbor: body)
        guard serving.count - servingHead + requests.count <= Self.servingLimit else {
            throw WireError.tooLarge("more than \(Self.servingLimit) requests at once")
        }
        if servingHead > 1024 {
            serving.removeFirst(servingHead)
            servingHead = 0
        }
        serving += requests
        wakeups.post(())
    }

    func receiveCancel(_ body: CBOR) {
        let numbers = Set((body.arrayValue ?? []).compactMap { $0.uint })
        let rest = serving[servingHead...].filter { !numbers.contains(UInt64($0.number)) }
        serving = Array(rest)
        servingHead = 0
    }

    /// Sends a piece, or says that it is not here.
    private func serve(_ request: PieceRequest) async throws {
        guard let piece = try await load(request) else {
            _ = noteInterest(request.attachment)
            try channel.send(.absent, .array([.unsigned(UInt64(request.number))]))
            return
        }
        defer { withExtendedLifetime(piece) {} }  // `bytes` does not keep it
        guard let peer else { return }
        let bytes = UnsafeRawBufferPointer(piece.bytes)
        var offset = request.offset
        while offset < bytes.count {
            let portion = context.traffic.portion(.upload, peer, isLocal: isLocal)
            // What is told of documents does not wait for a whole piece on a limited line.
            if portion != nil, hasNewChanges, unacknowledged < Self.pagesInFlight {
                try await sendChanges()
            }
            let end = min(offset + min(PieceFrame.dataLimit, portion ?? .max), bytes.count)
            try await context.traffic.pass(end - offset, .upload, peer, isLocal: isLocal)
            try channel.sendPiece(
                request: request.number, offset: offset,
                data: UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
            offset = end
            try await channel.drain()
        }
        context.attachments.relays.table.with {
            $0.served(bytes.count - request.offset, of: request.attachment, now: RelayTable.now)
        }
        context.fetcher.progress.sent(
            bytes.count, of: request.attachment, to: peer, piece: request.piece)
    }

    /// Remembers that the peer hears of an attachment once it is here; `false` for one too many.
    func noteInterest(_ attachment: AttachmentID) -> Bool {
        guard interests.count < Self.interestLimit || interests.contains(attachment) else {
            return false
        }
        interests.insert(attachment)
        return true
    }

    /// The bytes of a request, if a document that this peer may see names the attachment and
    /// they are here.
    private func load(_ request: PieceRequest) async throws -> PieceBuffer? {
        let attachment = request.attachment
        guard let view = currentView() else { return nil }
        if let ready = blobs.piece(request) { return ready }
        if let known = holdings.removeValue(forKey: attachment), known.isServed,
            let piece = try await open(request, known)
        {
            return piece
        }
        // What was looked up with others before may be out of date by now.
        try await lookUpNext(with: request, view.scope)
        guard let known = holdings.removeValue(forKey: attachment), known.isServed,
            request.isWithinAttachment
        else { return nil }
        if let piece = try await open(request, known) { return piece }
        guard let staged = await context.fetcher.partial(of: attachment) else { return nil }
        return blobs.piece(request, inStaged: staged)
    }

    private func open(
        _ request: PieceRequest, _ known: LocalHolding
    ) async throws -> PieceBuffer? {
        let found = blobs.open(
            request.attachment, at: known.locations, layer: known.layer, for: request)
        for location in found.gone { try await forget(location) }
        return found.piece
    }

    /// Asks the store about this request and about those behind it that can be served at once.
    private func lookUpNext(
        with request: PieceRequest, _ scope: PeerView.Scope
    ) async throws {
        blobs.closeRoots()
        var size: UInt64 = 0
        let next = serving[servingHead...].prefix(Self.lookUpLimit).prefix { other in
            size += other.attachment.byteCount
            return size <= Self.lookUpByteCount
        }
        let wanted = Set(next.map(\.attachment)).union([request.attachment])
        holdings = try await context.reader.read { snapshot in
            var found: [AttachmentID: LocalHolding] = [:]
            for attachment in wanted {
                found[attachment] = try snapshot.holding(of: attachment, in: scope)
            }
            return found
        }
    }

    private func forget(_ location: Location) async throws {
        try await context.store.write {
            try $0.removeLocation(
                root: location.root, path: location.path, fingerprint: location.fingerprint)
        }
    }

    /// The peer got a wrong piece from here: look at the file again.
    func receiveMismatch(_ body: CBOR) async throws {
        guard let fields = body.arrayValue, fields.count == 3,
            let attachment = AttachmentID(fields[0], fields[1]), fields[2].uint != nil
        else { throw WireError.malformed("a mismatch") }
        blobs.distrust(attachment)
    }

    /// Tells the peer of what it asked for in vain and what is here by now.
    ///
    /// A peer may have asked for very much that nobody has, and each commit leads here: looking
    /// takes no more than a part of the time of those who read the store.
    private func tellInterested(_ scope: PeerView.Scope) async throws {
        guard !interests.isEmpty else { return }
        let (wanted, start) = (interests, ContinuousClock.now)
        guard start >= nextInterestLook else {
            owesInterestLook = true
            return interestAlarm.set(after: nextInterestLook - start)
        }
        let (served, here) = try await context.reader.read { snapshot in
            let served = try wanted.filter { try snapshot.isServed($0, in: scope) }
            return (served, try served.filter { try !snapshot.locations(of: $0).isEmpty })
        }
        let end = ContinuousClock.now
        nextInterestLook = end + (end - start) * Self.pausePerLook
        var holdings = here.map { Holding(attachment: $0) }
        interests.subtract(here)
        for attachment in served.subtracting(here) {
            guard let staged = await context.fetcher.partial(of: attachment) else { continue }
            holdings.append(Holding(attachment: attachment, pieces: staged.pieces))
        }
        var rest = holdings[...]
        while !rest.isEmpty {
            // Bitmaps of big files are long: each frame has its limit.
            var size = 0
            let part = rest.prefix { holding in
                size += holding.pieces.count + 64
                return size <= FrameType.have.payloadLimit / 2
            }
            let some = part.isEmpty ? rest.prefix(1) : part
            try channel.send(.have, .array(some.map(\.cbor)))
            rest = rest.dropFirst(some.count)
        }
    }
}
