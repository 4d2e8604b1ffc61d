import Synchronization

/// What is here for other devices alone.
///
/// ## Concurrency
/// Called from anywhere: who fetches, who serves and who collects look here.
final class RelayTable: Sendable {
    private let ledger: Mutex<RelayLedger>

    init(byteLimit: UInt64 = RelayLedger.defaultByteLimit) {
        ledger = Mutex(RelayLedger(byteLimit: byteLimit))
    }

    /// Seconds since 1970.
    static var now: UInt64 { StoreWriter.milliseconds() / 1000 }

    /// Runs `body` while nobody else looks.
    func with<Result>(_ body: (inout RelayLedger) -> Result) -> Result {
        ledger.withLock { body(&$0) }
    }

    func contains(_ attachment: AttachmentID) -> Bool {
        ledger.withLock { $0.contains(attachment) }
    }

    var byteCount: UInt64 { ledger.withLock { $0.byteCount } }
}
