import ChuteSystem

/// What every session of an engine works with.
struct SessionContext: Sendable {
    let store: StoreWriter
    let reader: StoreReader
    let tls: TLSContext
    /// Random for this start of the engine.
    let instance: UInt64
    let roots: Roots
    let fetcher: Fetcher
    let attachments: AttachmentStore
    let keptFiles: KeptFiles
    /// Fired with `.members` when a device came or went, or says something else of itself.
    let presence: ChangeSignal
    let local: LocalPeer
    let traffic = TrafficLimits()
    let dialingBack = DialingBack()
    let diagnostics: Diagnostics
}

/// One connection to one peer: from the TLS handshake to goodbye.
///
/// ## Concurrency
/// An actor on a queue of its own. Two tasks run in it: the reader takes one frame after the
/// other and answers, the writer sends what waits, in the order control, changes, pieces.
/// Control frames of the reader go out at once, in front of waiting data.
actor PeerSession {
    /// Which end opened the connection, and what it came for.
    enum Side: Sendable {
        case accepted
        case dialed
        case joining(Ticket)

        var isClient: Bool { if case .accepted = self { false } else { true } }
    }

    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    let context: SessionContext
    let side: Side
    nonisolated let address: String
    nonisolated let transport: String
    /// Whether `address` is the peer's own, with nothing of somebody else's in between.
    let isDirect: Bool
    /// Whether the peer is on this host's own network.
    let isLocal: Bool
    let channel: FrameChannel
    /// Set once the peer has proved that it belongs here.
    var peer: DeviceID?
    /// The member whose key the other end has, where that is all the proof there is: what it says
    /// from then on, it says itself.
    var pinned: DeviceID?

    var wakeups = Mailbox<Void>()
    var sentThrough: UInt64 = 0
    /// The last number that the peer was told to have come to.
    var toldThrough: UInt64 = 0
    /// What the peer wants, and what it gets of that by its role; `nil` for nothing.
    private var subscription = Subscription.everything
    private var view: PeerView?
    /// What this end said that it wants.
    var ownSubscription = Subscription.everything
    var learnedBefore: UInt64 = 0
    var unacknowledged = 0
    /// How often all streams had begun anew when this one was asked for.
    var streamRestarts: UInt64 = 0
    var hasNewChanges = true
    /// Members and names were sent ahead of a stream from the start.
    var isIntroduced = false
    var serving: [PieceRequest] = []
    var servingHead = 0
    var blobs: BlobServer
    /// What was looked up for requests that are about to be served.
    var holdings: [AttachmentID: LocalHolding] = [:]
    var interests: Set<AttachmentID> = []
    var assemblies: [UInt32: Assembly] = [:]
    /// Whole pieces that the fetcher does not have yet.
    var arrived: [Assembly] = []
    var refusedChanges = 0
    /// What somebody waits for an answer to; `nil` while nothing may be asked.
    var questions: [UInt32: Question]?
    var nextQuestion: UInt32 = 0
    /// What the peer has not answered, also where nobody waits for it any more.
    var unanswered: Set<UInt32> = []
    /// What the peer asks, in its order.
    let inquiries = Mailbox<Confirm>()
    var openInquiries = 0
    /// What the peer was asked to fetch, by the numbers of the questions.
    var askedRelays: [AttachmentID: UInt32] = [:]
    /// What the peer asks for, in its order.
    let relayWishes = Mailbox<RelayWish>()
    var openWishes = 0
    /// Who waits for what the peer finds at an address; `nil` while nothing may be asked.
    var dialBackWaiters: [UInt32: DialBackWaiter]?
    /// What the peer wants to be dialled.
    let dialBacks = Mailbox<DialBack>()
    var openDialBacks = 0
    /// By how many milliseconds the peer's clock was ahead of this device's when it last said.
    private(set) var clockLead: Int64?
    private var ending: GoodbyeReason?

    init(
        _ stream: consuming ConnectedStream, side: Side, context: SessionContext
    ) throws {
        executor = QueueExecutor(label: "chute.session")
        self.context = context
        self.side = side
        address = stream.address
        transport = stream.transport
        isDirect = stream.isDirect
        isLocal =
            stream.isDirect && SocketAddress(stream.address).map(Socket.isOnLink) ?? false
        let readiness = try Readiness(descriptor: stream.descriptor.raw)
        channel = FrameChannel(
            stream: try TLSStream(
                context: context.tls, role: side.isClient ? .client : .server,
                descriptor: stream.descriptor),
            readiness: readiness)
        blobs = BlobServer(roots: context.roots, buffers: context.fetcher.buffers)
    }

    func reason(_ payload: UnsafeRawBufferPointer) throws -> GoodbyeReason {
        GoodbyeReason(try CBOR.decode(payload)[0]?.textValue ?? "unknown")
    }

    func goodbye(_ reason: GoodbyeReason) throws {
        try channel.send(.goodbye, .map([0: .text(reason.description)]))
    }

    /// Exchanges the hellos. What the peer says of itself decides whether this connection stays.
    func exchangeHellos() async throws -> Hello {
        guard let peer else { throw WireError.unexpected("a hello before the proof") }
        // One transaction: a cursor is about what was wanted when it was written.
        let (cursor, counter, wanted, restarts) = try await context.store.write { transaction in
            (
                try transaction.cursor(from: peer), try transaction.highestCounter(of: peer),
                transaction.state.subscription, transaction.state.streamRestarts
            )
        }
        (ownSubscription, streamRestarts) = (wanted, restarts)
        let own = Hello(
            instance: context.instance, cursor: cursor, counter: counter,
            clock: StoreWriter.milliseconds(), metadata: context.local.encodedMetadata,
            subscription: try wanted.encoded())
        try channel.send(.hello, own.cbor)
        guard case .known(let type, let payload) = try await channel.next() else {
            throw WireError.unexpected("no hello")
        }
        if type == .goodbye { throw try SessionEnd.refused(reason(payload)) }
        guard type == .hello else { throw WireError.unexpected("a frame before hello") }
        let hello = try Hello(cbor: CBOR.decode(payload))
        noteClock(hello.clock)
        return hello
    }

    /// Compares the peer's clock with this device's; what took the message its way counts little.
    func noteClock(_ milliseconds: UInt64?) {
        guard let milliseconds else { return }
        clockLead = Int64(clamping: milliseconds) - Int64(clamping: StoreWriter.milliseconds())
    }

    /// Replicates and serves until either end says goodbye, or the connection is lost. Cancelled,
    /// this end says that it stops.
    func run(hello: Hello) async throws {
        guard let peer else { throw WireError.unexpected("a session without a proof") }
        defer { if Task.isCancelled { end(.stopping) } }
        subscription = try Subscription(encoded: hello.subscription)
        let view = context.store.view(of: peer, subscription)
        self.view = view
        let (start, last) = try await context.reader.read { snapshot in
            (
                try view.map { try snapshot.start(after: hello.cursor, view: $0) } ?? 0,
                try snapshot.lastLearned()
            )
        }
        (sentThrough, toldThrough) = (start, start)
        learnedBefore = last
        try await context.store.write { try $0.noteCounter(hello.counter) }
        guard await context.store.subscription == ownSubscription else {
            end(.subscriptionChanged)
            throw SessionEnd.said(.subscriptionChanged)
        }
        // One that was replaced meanwhile must not stand in the place of the one that stays.
        if let ending { throw SessionEnd.said(ending) }
        context.fetcher.connected(peer, through: self)
        questions = [:]
        dialBackWaiters = [:]
        let (traffic, isLocal) = (context.traffic, isLocal)
        channel.readingPace = FrameChannel.Pace(
            portion: { traffic.portion(.download, peer, isLocal: isLocal) },
            pass: { try await traffic.pass($0, .download, peer, isLocal: isLocal) })
        defer {
            giveUpQuestions()
            giveUpDialBacks()
            context.fetcher.disconnected(peer, through: self, partials: takePartials())
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.readFrames() }
            group.addTask { try await self.writeWhatWaits() }
            group.addTask { try await self.watchStore() }
            group.addTask { try await self.keepAlive() }
            group.addTask { try await self.answerInquiries() }
            group.addTask { try await self.answerWishes() }
            group.addTask { try await self.answerDialBacks() }
            defer {
                group.cancelAll()
                channel.close()
                wakeups.close()
                inquiries.close()
                relayWishes.close()
                dialBacks.close()
            }
            let first = await group.nextResult()
            // A cancel ends the tasks here at once: the peer hears why before the channel closes.
            if Task.isCancelled { end(.stopping) }
            if case .failure(let error) = first {
                // Its own end closes the channel, which is what the reader then meets.
                throw ending.map(SessionEnd.said) ?? lastWord(before: error) ?? error
            }
        }
        if let ending { throw SessionEnd.said(ending) }
    }

    /// What the peer gets to see now. Where its role or the owners are others than before, its
    /// stream begins anew, and what was opened for it is closed.
    func currentView() -> PeerView? {
        guard let peer else { return nil }
        let now = context.store.view(of: peer, subscription)
        guard now != view else { return now }
        if let old = view, let now, old.isRestricted != now.isRestricted {
            // What it is asked for depends on its role too: it connects again.
            end(.spaceChanged)
            return nil
        }
        view = now
        (sentThrough, toldThrough) = (0, 0)
        (isIntroduced, holdings) = (false, [:])
        blobs = BlobServer(roots: context.roots, buffers: context.fetcher.buffers)
        return now
    }

    /// The goodbye of a peer that hung up, where what was sent to it met that before the reader
    /// came to it.
    private func lastWord(before error: any Error) -> SessionEnd? {
        guard error is OpenSSLError else { return nil }
        do {
            while let frame = try channel.nextAtHand() {
                guard case .known(.goodbye, let payload) = frame else { continue }
                return .refused(try reason(payload))
            }
        } catch {
            context.diagnostics.debug("\(address): no last word: \(error)")
        }
        return nil
    }

    /// Whether any byte of the peer comes within `limit`, asked for by a ping.
    func isAlive(within limit: Duration) async -> Bool {
        let before = channel.lastReceived
        do {
            try send(.ping, .map([:]))
            let sent = channel.bytesSent
            let step = limit / 20
            for _ in 0..<20 {
                if channel.lastReceived > before { return true }
                // What waited is taken: the ping is behind it, on its way.
                if channel.hasUnsent, channel.bytesSent > sent { return true }
                try await Task.pause(for: step)
            }
        } catch { return false }
        return channel.lastReceived > before
    }

    /// After joining: takes in the inviter's changes until this device is a member by them.
    func receiveFacts() async throws {
        let hello = try await exchangeHellos()
        try await withTimeout(.seconds(30)) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await self.run(hello: hello)
                    } catch let end as SessionEnd where end.reason == .duplicateConnection {
                        // A dial of this device as a member came first: the facts come by that.
                        try await Task.pause(for: .seconds(30))
                    }
                }
                group.addTask {
                    for await _ in self.context.store.updates(of: .members) {
                        let membership = await self.context.store.membership
                        if membership.isMember(self.context.store.device) { return }
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        guard await context.store.membership.isMember(context.store.device) else {
            throw ChuteError(.refused, "the inviter let this device in, but said nothing of it")
        }
    }

    /// Puts a control frame in front of waiting data.
    func send(_ type: FrameType, _ payload: CBOR) throws {
        try channel.send(type, payload)
        if channel.hasUnsent { wakeups.post(()) }
    }

    /// Says goodbye and ends the session. To whom has not proved itself, nothing is said.
    func end(_ reason: GoodbyeReason) {
        guard ending == nil else { return }
        ending = reason
        if peer != nil {
            do { try goodbye(reason) } catch {
                context.diagnostics.debug("\(address): no goodbye: \(error)")
            }
        }
        channel.close()
        wakeups.close()
    }

    /// Says goodbye to a peer that may be in the middle of sending, and ends once it has heard it,
    /// or after `limit`: what is closed with unread bytes takes back the last word.
    func refuse(_ reason: GoodbyeReason, within limit: Duration = .seconds(10)) async {
        guard ending == nil else { return }
        do {
            try goodbye(reason)
            try await withTimeout(limit) { try await self.discardAll() }
        } catch {
            context.diagnostics.debug("\(address): \(reason): \(error)")
        }
        ending = reason
        channel.close()
        wakeups.close()
    }

    private func discardAll() async throws { while try await channel.next() != nil {} }

    nonisolated func enqueue(_ body: @escaping @Sendable (isolated PeerSession) -> Void) {
        executor.async { self.assumeIsolated(body) }
    }

    private func watchStore() async throws {
        for await _ in context.store.updates(of: [.changes, .locations]) {
            hasNewChanges = true
            wakeups.post(())
        }
    }

    /// Any byte is a sign of life; without one for 90 s the peer is gone.
    private func keepAlive() async throws {
        while true {
            try await Task.pause(for: .seconds(30), tolerance: .seconds(10))
            guard ContinuousClock.now - channel.lastReceived < .seconds(90) else {
                throw ChuteError(.unreachable, "\(address) fell silent", isTransient: true)
            }
            try send(.ping, .map([1: .unsigned(StoreWriter.milliseconds())]))
        }
    }
}
