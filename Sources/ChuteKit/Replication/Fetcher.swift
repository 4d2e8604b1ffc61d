import ChuteSystem
import Glibc

/// Gets the bytes of wants into their staged files: from own disk where they lie, else from
/// every connected peer that has them.
///
/// ## Concurrency
/// An actor on a queue of its own, which hashes and writes. Sessions hand pieces over with
/// calls that only enqueue; at most `FetchPlanner.Limits` of them are in flight.
actor Fetcher {
    private let executor = QueueExecutor(label: "chute.fetcher")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private let store: Store
    private let reader: StoreReader
    private let allRoots: Roots
    private let roots: OpenRoots
    private let diagnostics: Diagnostics
    nonisolated let progress = TransferProgress()
    nonisolated let buffers = PieceBufferPool()
    /// What ended, for whoever made the wants.
    nonisolated let outcomes = Mailbox<FetchOutcome>()

    private var planner = FetchPlanner()
    private var transfers: [AttachmentID: FetchTransfer] = [:]
    private var sessions: [DeviceID: PeerSession] = [:]
    private var partials: [AttachmentID: [UInt64: PieceBuffer]] = [:]
    /// What ended in the call that is running; `nil` outside of one.
    private var ended: [FetchOutcome]?
    private var nextNumber: UInt32 = 0
    private var lastWant: Int64 = 0
    private var paused: [Int64: Want] = [:]
    private let hasher = PieceTree.PieceHasher()
    private static let partialLimit = 8
    private static let pageLimit = 1024
    /// So many small files are asked for in one message.
    private static let askCount = 64
    /// Only what an earlier run asked for can have staged bytes.
    private var isFirstRound = true

    init(store: Store, reader: StoreReader, roots: Roots, diagnostics: Diagnostics) {
        self.store = store
        self.reader = reader
        allRoots = roots
        self.roots = OpenRoots(roots)
        self.diagnostics = diagnostics
    }

    /// Takes up wants as they are made, until cancelled.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in self.store.updates(of: .wants) { try await self.takeUpWants() }
            }
            group.addTask {
                for await _ in self.store.updates(of: .withdrawals) {
                    try await self.forgetWithdrawn()
                }
            }
            group.addTask { try await self.retryPaused() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func retryPaused() async throws {
        while true {
            try await Task.sleep(for: .seconds(30), tolerance: .seconds(10))
            let ids = Array(paused.keys)
            let gone = try await reader.read { try $0.missingWants(among: ids) }
            let again = ids.sorted().compactMap { paused.removeValue(forKey: $0) }
            defer { roots.close() }
            for want in again where !gone.contains(want.id) {
                carryOut(try await start(want, isLocal: false, mayBeStaged: true))
            }
        }
    }

    private func takeUpWants() async throws {
        defer { roots.close() }
        while true {
            let after = lastWant
            let (wants, local) = try await reader.read { snapshot in
                let wants = try snapshot.wants(after: after, limit: Self.pageLimit)
                let local = try wants.filter { want in
                    try !snapshot.locations(of: want.attachment).isEmpty
                }
                return (wants, Set(local.map(\.id)))
            }
            guard let last = wants.last else { break }
            lastWant = last.id
            for part in wants.chunks(of: Self.askCount) {
                var assignments: [FetchPlanner.Assignment] = []
                for want in part {
                    assignments += try await start(want, isLocal: local.contains(want.id))
                }
                carryOut(assignments)
            }
        }
        isFirstRound = false
    }

    private func forgetWithdrawn() async throws {
        let known = transfers.values.flatMap { $0.wants.map(\.id) } + paused.keys
        guard !known.isEmpty else { return }
        let gone = try await reader.read { snapshot in try snapshot.missingWants(among: known) }
        for id in gone { paused[id] = nil }
        for (attachment, transfer) in transfers {
            guard transfers[attachment] === transfer else { continue }
            let writesForNobody = transfer.wants.first.map { gone.contains($0.id) } ?? true
            transfer.wants.removeAll { gone.contains($0.id) }
            guard writesForNobody else { continue }
            // Its file is that of the want that is gone: the others begin with their own.
            drop(attachment)
            begin(transfer.wants[...], layer: transfer.layer)
        }
    }

    /// Begins anew with wants of one attachment that nothing is under way for, from its first
    /// piece.
    private func begin(_ wants: ArraySlice<Want>, layer: [UInt8]?) {
        guard let first = wants.first else { return }
        let transfer = FetchTransfer(want: first, layer: layer)
        transfer.wants = Array(wants)
        transfers[first.attachment] = transfer
        carryOut(
            planner.add(
                first.attachment, pieces: 0..<transfer.wantedCount,
                needsLayer: transfer.pieceCount > 1 && layer == nil, source: first.source))
    }

    private func drop(_ attachment: AttachmentID) {
        transfers[attachment] = nil
        partials[attachment] = nil
        progress.ended(attachment)
        // First: a peer keeps a bounded number of requests.
        for peer in planner.askedPeers(for: attachment) { sessions[peer]?.cancel(attachment) }
        carryOut(planner.remove(attachment))
    }

    /// Begins with a want; what is to be asked for by that.
    private func start(
        _ want: Want, isLocal: Bool, mayBeStaged: Bool = false
    ) async throws -> [FetchPlanner.Assignment] {
        let attachment = want.attachment
        if let transfer = transfers[attachment] {
            if !transfer.wants.contains(where: { $0.id == want.id }) {
                transfer.wants.append(want)
            }
            return []
        }
        if attachment.byteCount == 0 {
            finishEmpty(want)
            return []
        }
        if isLocal, try await copyFromHere(want) { return [] }
        let pieces = PieceTree.pieceCount(length: attachment.byteCount)
        let layer =
            pieces == 1 ? [] : try await reader.read { try $0.layer(of: attachment) }
        guard transfers[attachment] == nil else { return try await start(want, isLocal: false) }
        let transfer = FetchTransfer(want: want, layer: layer)
        transfers[attachment] = transfer
        let mayBeStaged = mayBeStaged || isFirstRound || want.part == .rest
        let staged = mayBeStaged ? transfer.stagedPieces(in: roots) : []
        let assignments = planner.add(
            attachment,
            pieces: (0..<transfer.wantedCount).lazy.filter { !staged.contains($0) },
            needsLayer: pieces > 1 && layer == nil, source: want.source)
        guard !staged.isEmpty else { return assignments }
        carryOut(assignments)
        await checkStaged(staged.sorted(), of: transfer)
        return []
    }

    /// Hashes what an earlier run left in the staged file, while the rest is fetched already.
    private func checkStaged(_ pieces: [UInt64], of transfer: FetchTransfer) async {
        var wrong: [UInt64] = []
        for piece in pieces {
            if transfer.checkStaged(piece, in: roots, with: hasher) {
                transfer.mark(piece)
            } else {
                wrong.append(piece)
            }
            await Task.yield()
        }
        guard transfers[transfer.attachment] === transfer else { return }
        carryOut(planner.reopen(wrong, of: transfer.attachment))
        finishIfComplete(transfer)
    }

    private func finishEmpty(_ want: Want) {
        guard want.attachment.digest.bytes == PieceTree.emptyID else {
            // No bytes, of anybody, have this hash.
            return end(
                FetchOutcome(
                    want: want, result: .mismatch(from: nil, isFinal: true), layer: []))
        }
        let transfer = FetchTransfer(want: want, layer: nil)
        do throws(SystemError) {
            try transfer.open(in: roots)
            end(FetchOutcome(want: want, result: .completed, layer: []))
        } catch { pause(want, error) }
    }

    /// Copies the bytes from a file on own disk, hashing them on the way; `false` where none
    /// has them any more.
    private func copyFromHere(_ want: Want) async throws -> Bool {
        let attachment = want.attachment
        let (locations, layer) = try await reader.read { snapshot in
            (try snapshot.locations(of: attachment), try snapshot.layer(of: attachment))
        }
        defer { roots.close() }
        var source = BlobServer(roots: allRoots, buffers: buffers)
        let transfer = FetchTransfer(want: want, layer: layer)
        for piece in 0..<PieceTree.pieceCount(length: attachment.byteCount) {
            let request = PieceRequest(
                number: 0, attachment: attachment, piece: piece, offset: 0)
            let buffer =
                source.piece(request)
                ?? source.open(attachment, at: locations, layer: layer, for: request).piece
            guard let buffer, transfer.isRight(piece, buffer, with: hasher) else { return false }
            do throws(SystemError) {
                try transfer.write(piece, buffer, in: roots)
            } catch {
                pause(want, error)
                return true
            }
            await Task.yield()
        }
        transfer.startWriteback()
        end(FetchOutcome(want: want, result: .completed, layer: layer ?? []))
        return true
    }

    // MARK: What sessions report

    nonisolated func connected(_ peer: DeviceID, through session: PeerSession) {
        enqueue { fetcher in
            fetcher.sessions[peer] = session
            fetcher.carryOut(fetcher.planner.connected(peer))
        }
    }

    nonisolated func disconnected(
        _ peer: DeviceID, through session: PeerSession, partials: [Assembly]
    ) {
        enqueue { fetcher in
            guard fetcher.sessions[peer] === session else { return }
            fetcher.sessions[peer] = nil
            for partial in partials { fetcher.keep(partial) }
            // Those pieces are asked for again: what waits unchecked of them is only memory.
            for transfer in fetcher.transfers.values {
                transfer.unchecked.removeAll { $0.peer == peer }
            }
            fetcher.carryOut(fetcher.planner.disconnected(peer))
        }
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

    nonisolated func peer(_ session: PeerSession, has holding: Holding) {
        enqueue { fetcher in
            guard let peer = fetcher.peer(of: session) else { return }
            fetcher.carryOut(fetcher.planner.has(holding, at: peer))
        }
    }

    private nonisolated func enqueue(_ body: @escaping @Sendable (isolated Fetcher) -> Void) {
        executor.queue.async { @Sendable in
            self.assumeIsolated { fetcher in
                fetcher.ended = []
                body(fetcher)
                fetcher.roots.close()
                fetcher.outcomes.post(contentsOf: fetcher.ended ?? [])
                fetcher.ended = nil
            }
        }
    }

    /// Reports an outcome: with the others of what is being taken in, or by itself.
    private func end(_ outcome: FetchOutcome) {
        if ended == nil { outcomes.post(outcome) } else { ended?.append(outcome) }
    }

    private func peer(of session: PeerSession) -> DeviceID? {
        sessions.first { $0.value === session }?.key
    }

    private func noteAbsent(_ request: PieceRequest, at peer: DeviceID) {
        let attachment = request.attachment
        carryOut(planner.absent(request.piece, of: attachment, at: peer))
        // It looked again after it sent a wrong piece, and has no right one.
        guard let transfer = transfers[attachment], planner.hasSentWrong(attachment, from: peer)
        else { return }
        report(mismatchOf: transfer, from: peer, isFinal: true)
    }

    private func keep(_ partial: Assembly) {
        guard let piece = partial.request.piece, transfers[partial.request.attachment] != nil,
            partials.values.reduce(0, { $0 + $1.count }) < Self.partialLimit
        else { return }
        partials[partial.request.attachment, default: [:]][piece] = partial.buffer
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

    private func takeLayer(
        _ layer: [UInt8], of transfer: FetchTransfer, from peer: DeviceID, _ session: PeerSession
    ) {
        let attachment = transfer.attachment
        guard
            PieceTree.isPieceLayer(
                layer, ofID: attachment.digest.bytes, length: attachment.byteCount)
        else {
            diagnostics.warning("\(peer.short) sent wrong hashes for \(attachment)")
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
            diagnostics.warning(
                "\(peer.short) sent a wrong piece of \(attachment)"
                    + (isLiar ? " again: it is not asked for it any more" : ""))
            report(mismatchOf: transfer, from: peer, isFinal: isLiar)
            sessions[peer]?.reportMismatch(attachment, piece: piece)
            return carryOut(assignments)
        }
        do throws(SystemError) {
            try transfer.write(piece, buffer, in: roots)
        } catch {
            // Its file is that of the first want: the others begin with their own.
            drop(attachment)
            pause(transfer.wants[0], error)
            return begin(transfer.wants.dropFirst(), layer: transfer.layer)
        }
        transfer.mark(piece)
        if transfer.pieceCount > 1 {
            progress.received(transfer.doneByteCount, of: attachment, from: peer)
            if transfer.doneCount % 16 == 1 { store.look(at: .locations) }
        }
        carryOut(planner.finished(piece, of: attachment, from: peer))
        finishIfComplete(transfer)
    }

    private func report(
        mismatchOf transfer: FetchTransfer, from peer: DeviceID, isFinal: Bool
    ) {
        // Many pieces may be wrong: what is final is said once.
        if isFinal, !transfer.judged.insert(peer).inserted { return }
        for want in transfer.wants {
            end(
                FetchOutcome(
                    want: want, result: .mismatch(from: peer, isFinal: isFinal), layer: []))
        }
    }

    private func finishIfComplete(_ transfer: FetchTransfer) {
        guard transfer.isComplete, transfers[transfer.attachment] === transfer else { return }
        transfer.startWriteback()
        let wants = transfer.wants
        let layer = transfer.layer
        drop(transfer.attachment)
        if transfer.isSample {
            end(FetchOutcome(want: wants[0], result: .sampled, layer: []))
            // The others begin with their own files.
            return begin(wants.dropFirst(), layer: layer)
        }
        end(FetchOutcome(want: wants[0], result: .completed, layer: layer ?? []))
        guard wants.count > 1 else { return }
        // The others get a copy of the file that is complete now.
        for want in wants.dropFirst() {
            copy(from: transfer, layer: layer, to: want)
        }
    }

    private func copy(from source: FetchTransfer, layer: [UInt8]?, to want: Want) {
        let target = FetchTransfer(want: want, layer: layer)
        do throws(SystemError) {
            for piece in 0..<target.pieceCount {
                let buffer = try source.read(piece)
                guard target.isRight(piece, buffer, with: hasher) else {
                    throw SystemError(code: EIO, call: "read", path: source.wants[0].path)
                }
                try target.write(piece, buffer, in: roots)
            }
            target.startWriteback()
            end(FetchOutcome(want: want, result: .completed, layer: layer ?? []))
        } catch { pause(want, error) }
    }

    private func pause(_ want: Want, _ error: SystemError) {
        paused[want.id] = want
        end(
            FetchOutcome(
                want: want,
                result: .waiting(
                    error.isNoSpace ? .noSpace : error.isUnwritable ? .unwritable : .unavailable,
                    reason: error.description),
                layer: []))
    }

    private func carryOut(_ assignments: [FetchPlanner.Assignment]) {
        var byPeer: [DeviceID: [Assembly]] = [:]
        for assignment in assignments {
            nextNumber &+= 1
            let count = FetchPlanner.byteCount(of: assignment.piece, assignment.attachment)
            var buffer: PieceBuffer?
            if let piece = assignment.piece {
                buffer = partials[assignment.attachment]?.removeValue(forKey: piece)
            }
            let whole = buffer ?? PieceBuffer(byteCount: count, from: buffers)
            byPeer[assignment.peer, default: []].append(
                Assembly(
                    request: PieceRequest(
                        number: nextNumber, attachment: assignment.attachment,
                        piece: assignment.piece, offset: whole.filled),
                    buffer: whole))
        }
        for (peer, assemblies) in byPeer { sessions[peer]?.request(assemblies) }
    }

    /// The staged file of a transfer under way, for peers that want the same.
    func partial(of attachment: AttachmentID) -> StagedBlob? {
        transfers[attachment]?.staged()
    }

    /// The attachments that nobody who is connected has.
    func stalled() -> [AttachmentID] { transfers.keys.filter { planner.isStalled($0) } }
}

extension Array {
    /// The elements in their order, `count` at a time.
    fileprivate func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min($0 + count, self.count)]
        }
    }
}
