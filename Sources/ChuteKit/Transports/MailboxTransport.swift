/// A transport of sealed messages that lie somewhere until they are fetched: a bucket, a
/// carried folder.
protocol MailboxTransport: Sendable {
    /// The name in configuration and status.
    var name: String { get }
    /// Stores a message under `key`, wholly or not at all, in the place of an earlier one.
    func put(_ message: [UInt8], at key: String) async throws
    /// The keys that begin with `prefix`, in their order.
    func list(prefix: String) async throws -> [String]
    /// The message of a key; `nil` where there is none.
    func get(_ key: String) async throws -> [UInt8]?
    /// Removes a message; nothing happens where there is none.
    func delete(_ key: String) async throws
}
