import ChuteSystem
import Synchronization

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

    let wakeups: Mailbox<Void>
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
    /// What the peer asked for in vain and hears of once it is here.
    var interests: Set<AttachmentID> = []
    /// They are not looked for again before then, however much is committed meanwhile.
    var nextInterestLook = ContinuousClock.now
    var owesInterestLook = false
    let interestAlarm: Alarm
    var assemblies: [UInt32: Assembly] = [:] {
        didSet { owed.store(assemblies.count, ordering: .relaxed) }
    }
    let owed = Atomic(0)
    let brought = Atomic(0)
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
    var clockLead: Int64?
    /// Why this end ends, once it does.
    var ending: GoodbyeReason?

    init(
        _ stream: consuming ConnectedStream, side: Side, context: SessionContext
    ) throws {
        executor = QueueExecutor(label: "chute.session")
        let wakeups = Mailbox<Void>()
        self.wakeups = wakeups
        interestAlarm = Alarm { wakeups.post(()) }
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

    /// Puts a control frame in front of waiting data.
    func send(_ type: FrameType, _ payload: CBOR) throws {
        try channel.send(type, payload)
        if channel.hasUnsent { wakeups.post(()) }
    }

    nonisolated func enqueue(_ body: @escaping @Sendable (isolated PeerSession) -> Void) {
        executor.async { self.assumeIsolated(body) }
    }

    private func watchStore() async throws {
        for await _ in context.store.updates(of: [.changes, .locations]) {
            hasNewChanges = true
            wakeups.post(())
        }
    }
}
