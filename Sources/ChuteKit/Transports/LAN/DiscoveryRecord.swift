import ChuteSystem

/// What a device says of itself on its links: who does not know the key of its space learns only
/// that there is one, and cannot tell it from another, or from itself after its next start.
///
/// Whoever repeats a record of others is dialled in vain: who somebody is shows when they prove it.
struct DiscoveryRecord: Hashable, Sendable {
    static let nonceByteCount = 16
    private static let markByteCount = 16
    private static let version: [UInt8] = Array("1".utf8)

    /// Random, one for each start.
    private let nonce: [UInt8]
    /// Of the space, under its key.
    private let space: [UInt8]
    /// Of the device, under the key of its space.
    private let device: [UInt8]

    /// What `discovery`'s device says of itself.
    init(of discovery: Discovery, nonce: [UInt8]) {
        self.nonce = nonce
        space = discovery.mark(of: nil, nonce)
        device = discovery.mark(of: discovery.device, nonce)
    }

    /// Reads the strings of a TXT record; `nil` where they are none of this version. Further ones
    /// mean nothing.
    init?(text: [[UInt8]]) {
        func value(_ key: Character) -> [UInt8]? {
            let start = Array("\(key)=".utf8)
            return text.first { $0.starts(with: start) }.map { Array($0.dropFirst(start.count)) }
        }
        func bytes(_ key: Character) -> [UInt8]? {
            guard let letters = value(key), letters.count <= 64 else { return nil }
            return Base32.decode(letters)
        }
        guard value("v") == Self.version,
            let nonce = bytes("n"), nonce.count == Self.nonceByteCount,
            let space = bytes("s"), space.count == Self.markByteCount,
            let device = bytes("d"), device.count == Self.markByteCount
        else { return nil }
        self.nonce = nonce
        self.space = space
        self.device = device
    }

    /// The strings of the TXT record.
    var text: [[UInt8]] {
        [
            Array("v=".utf8) + Self.version, Array("n=".utf8) + Base32.encode(nonce),
            Array("s=".utf8) + Base32.encode(space), Array("d=".utf8) + Base32.encode(device),
        ]
    }

    /// Whose it is, as far as that matters.
    enum Origin: Hashable, Sendable {
        case member(DeviceID)
        /// Somebody who has the key of an open space, and whom this device has not heard of.
        case newcomer
        /// This device, a device that is no member, or another space.
        case nobody
    }

    func origin(in discovery: Discovery) -> Origin {
        guard SecretBytes.equal(space, discovery.mark(of: nil, nonce)) else { return .nobody }
        func isOf(_ other: DeviceID) -> Bool {
            SecretBytes.equal(device, discovery.mark(of: other, nonce))
        }
        if isOf(discovery.device) { return .nobody }
        if let member = discovery.members.first(where: isOf) { return .member(member) }
        return discovery.isOpen ? .newcomer : .nobody
    }
}

extension Discovery {
    /// What a device, or the space itself, is known by under a nonce.
    fileprivate func mark(of device: DeviceID?, _ nonce: [UInt8]) -> [UInt8] {
        let what = device == nil ? "chute lan space 1" : "chute lan device 1"
        let message = Array(what.utf8) + [0] + nonce + (device?.digest.bytes ?? [])
        return Array(SHA256.authenticationCode(for: message, key: key).prefix(16))
    }
}
