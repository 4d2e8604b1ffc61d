import ChuteSystem
import DropFolder

/// A ticket as people take it: by camera, or by copying a line.
enum InvitationText {
    static let privateAddressesWarning =
        "all addresses in the ticket are private: it works on this network only. To have it work "
        + "from anywhere, forward a port of your router to this device and set public in "
        + "[transports.tcp], or see in `chute status` what the router says to map_port"

    static func text(_ invitation: Invitation, expires: Duration, terminal: Terminal) -> String {
        let ticket = invitation.ticket ?? ""
        var lines: [String] = []
        if terminal.isTerminal, let code = QRCode(ticket) {
            let blocks = code.halfBlocks()
            if blocks.first?.count ?? 0 <= terminal.width { lines += blocks + [""] }
        }
        let uses = invitation.usesLeft == 1 ? "one device" : "\(invitation.usesLeft) devices"
        lines += [
            "On the other device:", "", "  chute join \(ticket)", "",
            "Good for \(uses) as \(invitation.role), for \(TimeSpan.text(expires)).",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    static func list(_ invitations: [Invitation]) -> String {
        let rows = invitations.map { invitation in
            let uses = invitation.usesLeft == 1 ? "1 use left" : "\(invitation.usesLeft) uses left"
            return [invitation.id, invitation.role, uses, "until \(invitation.expires)"]
        }
        return TextTable.lines(rows).joined(separator: "\n") + "\n"
    }
}
