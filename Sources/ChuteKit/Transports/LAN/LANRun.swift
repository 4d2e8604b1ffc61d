import ChuteSystem
import Synchronization

/// One run of the transport `lan`: takes connections, looks at the network and at who is seen,
/// and tells its host what follows (`LANView`).
///
/// ## Concurrency
/// Tasks of one group post what happens; one of them alone has the view and acts. What is seen
/// comes on the thread of `MulticastDNS` and waits in `latest`, the newest in the place of others.
final class LANRun: Sendable {
    private enum Event: Sendable {
        case listening(SocketAddress)
        case trouble(String)
        case network
        case discovery(Discovery?)
        case connected(Set<DeviceID>)
        case multicast
    }

    private let transport: LANTransport
    private let host: TransportHost
    private let events = Mailbox<Event>()
    private let latest = Mutex<MulticastDNSState?>(nil)

    init(_ transport: LANTransport, _ host: TransportHost) {
        self.transport = transport
        self.host = host
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.listen() }
            group.addTask {
                for await _ in self.host.networkChanges() { self.events.post(.network) }
            }
            group.addTask {
                for await discovery in self.host.discoveries() {
                    self.events.post(.discovery(discovery))
                }
            }
            group.addTask { await self.followConnections() }
            group.addTask { await self.act() }
        }
    }

    private func listen() async {
        let any = Socket.hasIPv6 ? "::" : "0.0.0.0"
        let address = SocketAddress(host: any, port: LANTransport.preferredPort)
        let listener = TCPListener(
            address: address.description, portRange: LANTransport.portRange,
            remedy: "leave lan out of transports"
        ) { [transport] peer, own in
            peer.map(Socket.isOnLink) ?? false
                && transport.isWelcome(peer, at: own, of: InterfaceAddress.all())
        }
        await listener.run { own in
            events.post(.listening(own))
        } trouble: { why in
            events.post(.trouble(why))
        } accepted: { connection in
            let peer = connection.peer?.description ?? "unknown"
            host.accept(
                ConnectedStream(
                    descriptor: connection.socket(), address: peer, transport: transport.name))
        }
    }

    private func followConnections() async {
        var last: Set<DeviceID> = []
        for await _ in host.presence.updates(of: .members) {
            let connected = await host.devicesByRank(transport.rank)
            if connected != last { events.post(.connected(connected)) }
            last = connected
        }
    }

    /// Acts on what happens until cancelled, and takes back what others were told.
    private func act() async {
        var view = LANView(transport, names: LANNames())
        var recogniser = LANRecogniser()
        var told = Told()
        var multicast: MulticastDNS?
        while true {
            let happened = await events.next()
            if happened.isEmpty { break }
            for event in happened { take(event, into: &view) }
            if view.looksForOthers, multicast == nil {
                multicast = MulticastDNS(
                    serviceType: transport.serviceType, interfaces: transport.interfaces
                ) { self.note($0) }
            } else if !view.looksForOthers, let ended = multicast.take() {
                await ended.stop()
                view.multicast = MulticastDNSState()
                told.announcement = nil
            }
            if view.multicast.announcing == .collision {
                view.names = LANNames()
                view.multicast.announcing = .probing
            }
            if let multicast, told.announcement != view.announcement {
                told.announcement = view.announcement
                multicast.announce(view.announcement)
            }
            let seen = view.seen(by: &recogniser)
            if seen.unwatched != told.seen.unwatched { multicast?.leaveUnwatched(seen.unwatched) }
            tell(view, seen, &told)
        }
        await multicast?.stop()
    }

    private func take(_ event: Event, into view: inout LANView) {
        switch event {
        case .listening(let own):
            view.listening = own
            view.listeningTrouble = nil
        case .trouble(let why):
            view.listening = nil
            view.listeningTrouble = why
        case .network:
            view.networks = NetworkPrefix.ofInterfaces()
            view.take(InterfaceAddress.all())
        case .discovery(let discovery):
            // Another space must not be told to be the same device's.
            if view.discovery??.key != discovery?.key { view.names = LANNames() }
            view.discovery = .some(discovery)
        case .connected(let devices): view.connected = devices
        case .multicast:
            if let state = latest.withLock({ $0.take() }) { view.multicast = state }
        }
    }

    /// Called by `MulticastDNS`.
    private func note(_ state: MulticastDNSState) {
        let isFirst = latest.withLock { latest in
            defer { latest = state }
            return latest == nil
        }
        if isFirst { events.post(.multicast) }
    }

    /// What the host was told, so that it is told what is different.
    private struct Told {
        var announcement: ServiceAnnouncement?
        var state: TransportState?
        var speaker: MulticastSpeaker?
        var announced: [String]?
        var seen = LANView.Seen()
    }

    private func tell(_ view: LANView, _ seen: LANView.Seen, _ told: inout Told) {
        let (state, announced) = (view.state, view.announced)
        if let state, state != told.state { host.report(state) }
        if view.speaker != told.speaker { host.report(view.speaker) }
        if announced != told.announced { host.announce(announced) }
        if seen.members != told.seen.members { host.found(seen.members) }
        (told.state, told.announced, told.seen) = (state ?? told.state, announced, seen)
        told.speaker = view.speaker
    }
}
