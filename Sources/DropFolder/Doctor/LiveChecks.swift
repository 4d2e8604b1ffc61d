import ChuteKit

/// What only a running agent knows, judged. Pure.
enum LiveChecks {
    /// A transport by what it says of itself; `nil` for one that is off or not built.
    static func transport(_ status: TransportStatus) -> Finding? {
        let name = status.name.rawValue
        return switch status.state {
        case .running: .works(name, status.detail)
        case .waiting, .stopped:
            .failed(name, "waits: \(status.detail)", "see what it waits for, then ask again")
        case .impossible: .failed(name, "is not possible here", status.detail)
        case .off, .notBuilt: nil
        }
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
    /// asked.
    static func dialledBack(_ address: String, _ answers: [String: Bool]) -> Finding {
        let check = "reached at \(address)"
        guard !answers.isEmpty else {
            return .note(check, "no peer is connected that could try")
        }
        let reached = answers.filter(\.value).keys.sorted()
        guard reached.isEmpty else {
            return .works(check, "by " + reached.joined(separator: ", "))
        }
        return .note(
            check, "not by " + answers.keys.sorted().joined(separator: ", "),
            "where others shall dial this device: let the port through the firewall, forward it "
                + "in the router, or set public in [transports.tcp]")
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
