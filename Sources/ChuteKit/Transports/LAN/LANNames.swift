import ChuteSystem

/// The random names of one start: nobody knows a device again by them.
struct LANNames: Hashable, Sendable {
    let nonce: [UInt8]
    /// Of the service, and of the host for it.
    let instance: String
    let host: String

    init() {
        nonce = SecretBytes.random(count: DiscoveryRecord.nonceByteCount)
        instance = Hexadecimal.text(SecretBytes.random(count: 8))
        host = Hexadecimal.text(SecretBytes.random(count: 8)) + ".local"
    }
}
