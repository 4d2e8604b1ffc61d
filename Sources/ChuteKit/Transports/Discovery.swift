import ChuteSystem

/// By what the members of a space recognise each other where everybody listens.
struct Discovery: Hashable, Sendable {
    /// 32 bytes that members have and nobody else.
    let key: [UInt8]
    /// Whether everybody who has the key is a member, so that there may be some that this device
    /// has not heard of yet.
    let isOpen: Bool
    /// This device.
    let device: DeviceID
    /// The other members that this device talks to.
    let members: Set<DeviceID>
}

/// Another device that a transport found.
public struct FoundPeer: Hashable, Sendable {
    /// Where it can be dialled, as `StreamTransport.canDial` takes it.
    public let address: String
    /// Which one it says it is; `nil` where that is not known before it was dialled.
    public let device: DeviceID?

    /// A device at an address.
    public init(address: String, device: DeviceID?) {
        self.address = address
        self.device = device
    }
}

extension SharedKey {
    /// What announcements of this space are made with.
    var discoveryKey: [UInt8] { derive("chute discovery 1", []) }
}

extension SpaceID {
    /// What announcements of a paired space are made with: of the nonce of its founding, which
    /// members alone get. One that was removed still knows it, and can tell that the space is near.
    func discoveryKey(nonce: [UInt8]) -> [UInt8] {
        SHA256.deriveKey(
            from: nonce, info: Array("chute discovery 1".utf8) + [0] + digest.bytes)
    }
}
