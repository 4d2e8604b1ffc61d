import ChuteSystem

/// What a device may do in a space.
public enum Role: String, Sendable, CaseIterable {
    /// Admits and removes members, and all that a member does.
    case owner
    /// Sends and receives.
    case member
    /// Sends to owners only.
    case sender

    /// Whether who has this role may do all that `other` may.
    func includes(_ other: Role) -> Bool { code <= other.code }

    /// Whether devices of these roles talk to each other at all: who only sends talks to owners
    /// alone.
    static func mayTalk(_ one: Role?, _ other: Role?) -> Bool {
        switch (one, other) {
        case (.sender, let role), (let role, .sender): role == .owner
        default: true
        }
    }

    fileprivate var code: UInt64 {
        switch self {
        case .owner: 0
        case .member: 1
        case .sender: 2
        }
    }

    fileprivate init?(code: UInt64) {
        switch code {
        case 0: self = .owner
        case 1: self = .member
        case 2: self = .sender
        default: return nil
        }
    }
}

/// One signed fact about the members of a space; the author of its change states it.
enum MemberFact: Hashable, Sendable {
    /// The author founded the space with this nonce.
    case founding(nonce: [UInt8])
    /// The author, an owner, admits a device. `cancels` names the removals that it undoes.
    case admission(device: DeviceID, role: Role, cancels: [Digest])
    /// The author, an owner, removes a device; what that one wrote beyond `cutoff` is hidden.
    case removal(device: DeviceID, cutoff: UInt64)
    /// The author holds the space's shared key: an HMAC under it over the author's id.
    case sharedKey(mac: [UInt8])

    static let collection = "_members"

    var cbor: CBOR {
        switch self {
        case .founding(let nonce): .map([0: .unsigned(0), 1: .bytes(nonce)])
        case .admission(let device, let role, let cancels):
            .map([
                0: .unsigned(1), 1: .bytes(device.digest.bytes), 2: .unsigned(role.code),
                3: .array(cancels.map { .bytes($0.bytes) }),
            ])
        case .removal(let device, let cutoff):
            .map([0: .unsigned(2), 1: .bytes(device.digest.bytes), 2: .unsigned(cutoff)])
        case .sharedKey(let mac): .map([0: .unsigned(3), 1: .bytes(mac)])
        }
    }

    /// The fact of a change's body; `nil` for a fact that this version does not know.
    init?(cbor: CBOR?) {
        guard let cbor, let type = cbor[0]?.uint else { return nil }
        switch type {
        case 0:
            guard let nonce = cbor[1]?.bytesValue, nonce.count == 32 else { return nil }
            self = .founding(nonce: nonce)
        case 1:
            guard let device = cbor[1]?.bytesValue.flatMap(DeviceID.init(bytes:)),
                let role = cbor[2]?.uint.flatMap(Role.init(code:)),
                let cancels = cbor[3]?.arrayValue, cancels.count <= 64
            else { return nil }
            self = .admission(
                device: device, role: role,
                cancels: cancels.compactMap { $0.bytesValue.flatMap(Digest.init(bytes:)) })
        case 2:
            guard let device = cbor[1]?.bytesValue.flatMap(DeviceID.init(bytes:)),
                let cutoff = cbor[2]?.uint
            else { return nil }
            self = .removal(device: device, cutoff: cutoff)
        case 3:
            guard let mac = cbor[1]?.bytesValue, mac.count == 32 else { return nil }
            self = .sharedKey(mac: mac)
        default: return nil
        }
    }

    /// The document that a fact is: one of its own for each.
    func document(by author: DeviceID, counter: UInt64) -> DocumentID {
        DocumentID(
            Digest(
                hashing: CBOR.array([
                    .text("chute fact 1"), .bytes(author.digest.bytes), .unsigned(counter), cbor,
                ]).encoded()))
    }
}
