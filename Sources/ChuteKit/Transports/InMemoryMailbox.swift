/// A mailbox in memory: the double for tests of whatever speaks to one.
actor InMemoryMailbox: MailboxTransport {
    let name = "memory"
    private var messages: [String: [UInt8]] = [:]

    func put(_ message: [UInt8], at key: String) { messages[key] = message }

    func list(prefix: String) -> [String] {
        messages.keys.filter { $0.hasPrefix(prefix) }.sorted()
    }

    func get(_ key: String) -> [UInt8]? { messages[key] }

    func delete(_ key: String) { messages[key] = nil }
}
