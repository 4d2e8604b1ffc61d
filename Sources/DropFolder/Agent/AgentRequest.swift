package import ChuteKit

/// What the command line asks of an agent, as it lies in the database.
package enum AgentRequest: Hashable, Sendable {
    case status
    case doctor
    case invite(role: Role, uses: Int, seconds: Int64)
    case revoke(String)
    case join(String)
    /// `isForced`: also as the only owner of a space with others.
    case leave(isForced: Bool = false)
    case remove(DeviceID)
    case setRole(DeviceID, Role)
    case redeliver(BytePath)
    case retract(BytePath)

    package var fields: Fields {
        switch self {
        case .status: ["ask": .string("status")]
        case .doctor: ["ask": .string("doctor")]
        case .invite(let role, let uses, let seconds):
            [
                "ask": .string("invite"), "role": .string(role.rawValue),
                "uses": .integer(Int64(uses)), "seconds": .integer(seconds),
            ]
        case .revoke(let id): ["ask": .string("revoke"), "id": .string(id)]
        case .join(let ticket): ["ask": .string("join"), "ticket": .string(ticket)]
        case .leave(let isForced):
            ["ask": .string("leave"), "force": .bool(isForced)]
        case .remove(let device):
            ["ask": .string("remove"), "device": .bytes(device.digest.bytes)]
        case .setRole(let device, let role):
            [
                "ask": .string("role"), "device": .bytes(device.digest.bytes),
                "role": .string(role.rawValue),
            ]
        case .redeliver(let target):
            ["ask": .string("redeliver"), "target": .bytes(target.bytes)]
        case .retract(let target): ["ask": .string("retract"), "target": .bytes(target.bytes)]
        }
    }

    init?(_ fields: Fields) {
        let target = fields["target"]?.bytes.map { BytePath(bytes: $0) }
        switch fields["ask"]?.string {
        case "status": self = .status
        case "doctor": self = .doctor
        case "invite":
            guard let role = fields["role"]?.string.flatMap(Role.init(rawValue:)),
                let uses = fields["uses"]?.integer, let seconds = fields["seconds"]?.integer
            else { return nil }
            self = .invite(role: role, uses: Int(clamping: uses), seconds: seconds)
        case "revoke":
            guard let id = fields["id"]?.string else { return nil }
            self = .revoke(id)
        case "join":
            guard let ticket = fields["ticket"]?.string else { return nil }
            self = .join(ticket)
        case "leave": self = .leave(isForced: fields["force"]?.bool ?? false)
        case "remove":
            guard
                let device = fields["device"]?.bytes.flatMap({ Digest(bytes: $0) })
            else { return nil }
            self = .remove(DeviceID(device))
        case "role":
            guard let device = fields["device"]?.bytes.flatMap({ Digest(bytes: $0) }),
                let role = fields["role"]?.string.flatMap(Role.init(rawValue:))
            else { return nil }
            self = .setRole(DeviceID(device), role)
        case "redeliver":
            guard let target else { return nil }
            self = .redeliver(target)
        case "retract":
            guard let target else { return nil }
            self = .retract(target)
        default: return nil
        }
    }
}
