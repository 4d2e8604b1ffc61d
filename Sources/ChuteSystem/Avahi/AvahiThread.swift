import CAvahi
import Glibc

/// What the thread of a `MulticastDNS` does and owns. Nothing of it leaves that thread.
final class AvahiThread {
    private let owner: MulticastDNS
    private let type: String
    private let interfaces: [String]
    private let changed: @Sendable (MulticastDNSState) -> Void

    private let start = ContinuousClock.now
    private let notes = AvahiNotes()
    private var orders = MulticastDNS.Orders()
    private var choice = SpeakerChoice()
    private var daemon: AvahiDaemonStack?
    private var core: AvahiCoreStack?
    private var session: AvahiSession?
    /// When an announcement that failed is tried again.
    private var retry: Duration?
    private var lastFailure: AvahiError?
    private var state = MulticastDNSState()

    init(
        _ owner: MulticastDNS, type: String, interfaces: [String],
        changed: @escaping @Sendable (MulticastDNSState) -> Void
    ) {
        self.owner = owner
        self.type = type
        self.interfaces = interfaces
        self.changed = changed
    }

    private var now: Duration { ContinuousClock.now - start }

    /// Runs until it is told to stop. A loop that fails is begun anew after a second.
    func run() {
        while true {
            do throws(AvahiError) {
                try runLoop()
                return
            } catch {
                letGo()
                lastFailure = error
                tell()
                usleep(1_000_000)
            }
        }
    }

    private func runLoop() throws(AvahiError) {
        let loop = try AvahiLoop()
        owner.setWake(loop.wake)
        defer {
            owner.setWake(nil)
            letGo()
        }
        while takeOrders() {
            checkStacks()
            while let step = choice.nextStep(now: now) { take(step, loop) }
            takeNotes()
            tryAgain()
            let moment = [choice.nextMoment, retry].compactMap(\.self).min()
            // Most turns are Avahi's own: packets and moments that nothing follows from here.
            repeat {
                try loop.turn(
                    atMost: moment.map { max($0 - now, .zero) },
                    skipsWaiting: { owner.hasNewOrders })
            } while !notes.isAny && !owner.hasNewOrders && (moment.map { now < $0 } ?? true)
        }
    }

    /// Whether to go on.
    private func takeOrders() -> Bool {
        guard let orders = owner.takeOrders() else { return true }
        self.orders = orders
        if orders.isStopped { return false }
        session?.announce(orders.announcement)
        leaveUnwatched()
        notes.noteState()
        return true
    }

    /// Looks at what Avahi said of itself.
    private func checkStacks() {
        if let daemon {
            do throws(AvahiError) {
                let isAnswering = try daemon.isConnected()
                if isAnswering != (choice.daemon == .answering) {
                    // What was made of a daemon that went is worth nothing to the next one.
                    if !isAnswering { dropDaemon() }
                    choice.daemonIs(answering: isAnswering ? true : nil, now: now)
                    if isAnswering, core == nil { begin(daemon) }
                }
            } catch {
                dropDaemon()
                choice.daemonIs(answering: nil, now: now)
            }
        }
        if let core {
            do throws(AvahiError) { try core.check() } catch {
                lastFailure = error
                dropCore()
                choice.coreFailed(now: now)
            }
        }
    }

    private func take(_ step: SpeakerChoice.Step, _ loop: AvahiLoop) {
        switch step {
        case .reachForDaemon:
            do throws(AvahiError) {
                let daemon = try AvahiDaemonStack(poll: loop.api, notes: notes)
                self.daemon = daemon
                let isAnswering = try daemon.isConnected()
                choice.daemonIs(answering: isAnswering, now: now)
                if isAnswering, core == nil { begin(daemon) }
            } catch {
                daemon = nil
                choice.daemonIs(answering: nil, now: now)
            }
        case .stopCore:
            dropCore()
            choice.coreStopped()
            if let daemon { begin(daemon) }
        case .startCore:
            do throws(AvahiError) {
                // A host name that says nothing: it is asked for, and not told to anybody.
                let core = try AvahiCoreStack(
                    poll: loop.api, notes: notes,
                    host: Hexadecimal.text(SecretBytes.random(count: 8)), interfaces: interfaces)
                self.core = core
                choice.coreStarted()
                lastFailure = nil
                begin(core)
            } catch {
                lastFailure = error
                choice.coreFailed(now: now)
            }
        }
        notes.noteState()
    }

    private func begin(_ stack: any AvahiStack) {
        _ = notes.take()  // of who spoke before
        let session = AvahiSession(stack, type: type, interfaces: interfaces)
        session.announce(orders.announcement)
        self.session = session
        leaveUnwatched()
        notes.noteState()
    }

    /// Whether anything that is seen changed is looked at with the notes, which follow.
    private func leaveUnwatched() { _ = session?.search.leaveUnwatched(orders.unwatched) }

    private func takeNotes() {
        var isChanged = notes.takeState()
        guard let session else {
            if isChanged { tell() }
            return
        }
        if session.search.handle(notes.take()) { isChanged = true }
        if isChanged { tell() }
    }

    private func tell() {
        var next = MulticastDNSState()
        if let session {
            next.speaker = session.stack === core ? .embedded : .daemon
            next.announcing = session.announcing
            next.browsingFailure = session.search.failure
            next.sightings = session.search.seen
        } else {
            next.speaker = .nobody(lastFailure)
        }
        if case .failed = next.announcing {
            if retry == nil { retry = now + .seconds(5) }
        } else {
            retry = nil
        }
        guard next != state else { return }
        state = next
        changed(next)
    }

    /// Announces again what failed.
    private func tryAgain() {
        guard let moment = retry, moment <= now else { return }
        retry = nil
        session?.announce(orders.announcement)
        tell()
    }

    private func dropDaemon() {
        if session?.stack === daemon { session = nil }
        daemon = nil
        notes.noteState()
    }

    private func dropCore() {
        if session?.stack === core {
            session?.close()
            session = nil
        }
        core = nil
    }

    private func letGo() {
        session?.close()
        session = nil
        daemon = nil
        core = nil
        choice = SpeakerChoice()
        retry = nil
    }
}
