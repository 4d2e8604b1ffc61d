import ChuteSystem

/// The 32 bytes that make a shared-key space: whoever holds them is a member.
public struct SharedKey: Hashable, Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// The number of bytes of a key file.
    public static let byteCount = 32

    /// A key of exactly 32 bytes; `nil` for any other count.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The space of this key, derived from it by HKDF.
    public var space: SpaceID {
        guard let digest = Digest(bytes: derive("chute shared space 1", []))
        else { preconditionFailure("HKDF gives the count that it is asked for") }
        return SpaceID(digest)
    }

    /// Proves in a member fact that `device` holds the key.
    func memberProof(of device: DeviceID) -> [UInt8] {
        SHA256.authenticationCode(
            for: space.digest.bytes + device.digest.bytes,
            key: derive("chute shared member 1", []))
    }

    func isMemberProof(_ mac: [UInt8], of device: DeviceID) -> Bool {
        SecretBytes.equal(mac, memberProof(of: device))
    }

    /// Proves on one connection that this end holds the key. `exporter` binds the proof to the
    /// TLS session, the ids bind it to its ends, `isClient` to its direction.
    func sessionProof(
        isClient: Bool, client: DeviceID, server: DeviceID, exporter: [UInt8]
    ) -> [UInt8] {
        let context = client.digest.bytes + server.digest.bytes + exporter
        let label = isClient ? "chute prove client 1" : "chute prove server 1"
        return SHA256.authenticationCode(
            for: space.digest.bytes + context, key: derive(label, context))
    }

    func derive(_ label: String, _ context: [UInt8]) -> [UInt8] {
        SHA256.deriveKey(from: bytes, info: Array(label.utf8) + [0] + context)
    }

    /// The key of one application among those that were given this one.
    func forApp(_ appID: String) -> SharedKey {
        Self.derived(bytes, "chute app 1\0\(appID)")
    }

    /// The key of everybody who says this name: no secret.
    static func development(_ appName: String) -> SharedKey {
        derived(Array("chute development key 1".utf8), "chute development app 1\0\(appName)")
    }

    private static func derived(_ secret: [UInt8], _ info: String) -> SharedKey {
        guard let key = SharedKey(bytes: SHA256.deriveKey(from: secret, info: Array(info.utf8)))
        else { preconditionFailure("HKDF gives the count that it is asked for") }
        return key
    }

    /// Never the key.
    public var description: String { "shared key of space \(space)" }
}
