import ChuteKit

/// What only a running agent knows, judged. Pure.
enum LiveChecks {
    /// A transport by what it says of itself; `nil` for one that is off or not built. `isAlone`: this
    /// device shares with nobody yet, so that nothing has to be found.
    static func transport(_ status: TransportStatus, isAlone: Bool = false) -> Finding? {
        let name = status.name.rawValue
        return switch status.state {
        case .running: .works(name, status.detail)
        case .waiting where isAlone && status.name == .lan: .note(name, "waits: \(status.detail)")
        case .waiting, .stopped: waits(name, status.detail)
        case .impossible: .failed(name, "is not possible here", status.detail)
        case .off, .notBuilt: nil
        }
    }

    /// What a transport waits for, which is told with what to do about it.
    private static func waits(_ name: String, _ detail: String) -> Finding {
        guard let colon = detail.firstRange(of: ": ") else {
            return .failed(name, "waits: \(detail)", "see that this comes, then ask again")
        }
        return .failed(
            name, "waits: \(detail[..<colon.lowerBound])", String(detail[colon.upperBound...]))
    }

    /// Whether this device still belongs to its space; `nil` where nobody says otherwise.
    static func membership(removedBy names: [String]) -> Finding? {
        guard !names.isEmpty else { return nil }
        return .failed(
            "membership",
            "this device was removed from the space, as \(names.joined(separator: ", ")) "
                + (names.count == 1 ? "says" : "say"),
            "run `chute leave`, which keeps all files, and join with a new ticket to come back")
    }

    /// An address that is to be dialled in any case. `failure` is why it could not be.
    static func address(_ address: String, failure: String?) -> Finding {
        guard let failure else { return .works(address, "answers") }
        return .failed(
            address, failure,
            "see that the device there is on and can be reached, or take the address out of "
                + "connect")
    }

    /// Whether others reach this device where it says it is. `answers` are of those that were
    /// asked, by their names.
    static func dialledBack(_ address: String, _ answers: [(name: String, Reachability)])
        -> Finding
    {
        let check = "reached at \(address)"
        guard !answers.isEmpty else {
            return .note(check, "no peer is connected that could try")
        }
        func names(_ word: Reachability) -> String? {
            let some = answers.filter { $0.1 == word }.map(\.name).sorted()
            return some.isEmpty ? nil : some.joined(separator: ", ")
        }
        if let reached = names(.reached) { return .works(check, "by \(reached)") }
        if let vain = names(.notReached) {
            return .note(
                check, "not by \(vain)",
                "where others shall dial this device: let the port through the firewall, forward "
                    + "it in the router, or set public in [transports.tcp]")
        }
        if let asked = names(.askedTooOften) {
            return .note(
                check, "not tried: \(asked) dialled for this device six times in the last minute",
                "ask again in a minute")
        }
        if let elsewhere = names(.notDialled) {
            return .note(
                check,
                "not tried: \(elsewhere) dials no such address for others, who is not in "
                    + "that network")
        }
        return .note(check, "not tried: \(names(.silent) ?? "nobody") did not answer")
    }

    /// What the home router does. `state` is `nil` where it has nothing to do.
    static func portMapping(_ configuration: Configuration, _ state: PortMappingState?) -> Finding {
        let check = "router"
        guard configuration.network.transports.contains(.tcp), configuration.tcp.listen != .off
        else { return .note(check, "not needed: tcp takes no connections") }
        guard configuration.tcp.mapsPort else {
            return .note(check, "not asked for a port: map_port = false in [transports.tcp]")
        }
        let byHand =
            "turn NAT-PMP or UPnP on in the router, or forward the port there and set public in "
            + "[transports.tcp]; map_port = false asks it no more"
        switch state {
        case nil:
            return .note(
                check,
                "not needed: this device listens at no private IPv4 address behind a router")
        case .asked: return .note(check, "is asked for a port, and has not answered yet")
        case .mapped(let address, true):
            return .works(check, "passes on what comes to \(address); a peer got through")
        case .mapped(let address, nil):
            return .works(check, "passes on what comes to \(address); no peer has tried yet")
        case .mapped(let address, false):
            return .note(
                check, "passes on what comes to \(address), and no peer gets through", byHand)
        case .refused(let why): return .failed(check, "was asked for a port: \(why)", byHand)
        case .unavailable(let why):
            return .note(check, "was asked for a port: \(why)", byHand)
        }
    }

    /// Who speaks multicast DNS. `hasDaemon`: the Avahi daemon runs on this host.
    static func multicastDNS(
        _ configuration: Configuration, _ speaker: MulticastSpeaker?, hasDaemon: Bool
    ) -> Finding {
        let check = "mDNS"
        let beside = hasDaemon ? "the Avahi daemon runs, and is not used" : "no Avahi daemon runs"
        guard configuration.looksForOthersByMulticast else {
            return .note(check, "off by the configuration; \(beside)")
        }
        switch speaker {
        case nil: return .note(check, "nobody has to speak: there is nobody to look for; \(beside)")
        case .daemon: return .works(check, "by the Avahi daemon")
        case .embedded:
            return hasDaemon
                ? .note(
                    check, "both: the Avahi daemon runs, and Avahi's core within the agent speaks",
                    "where it stays so, let the agent's user reach the daemon by D-Bus: see that "
                        + "dbus and avahi-daemon run")
                : .works(check, "by Avahi's core within the agent; no Avahi daemon runs")
        case .nobody(nil): return .note(check, "none yet: it starts")
        case .nobody(let why?):
            return .failed(
                check, "none: neither the Avahi daemon nor Avahi's core within the agent: \(why)",
                "install avahi-daemon, or the libraries libavahi-client3 and libavahi-core7")
        }
    }

    private static let greatestLead: Int64 = 60

    /// The clock beside that of a peer.
    static func clock(_ peer: String, lead: Int64) -> Finding {
        let check = "clock beside \(peer)"
        let words = "\(abs(lead)) s \(lead < 0 ? "behind" : "ahead of") this device's"
        guard abs(lead) >= greatestLead else { return .works(check, "the same within a minute") }
        return .failed(
            check, "its clock is \(words)",
            "set the clock of the one that is wrong: `sudo timedatectl set-ntp true`")
    }
}
