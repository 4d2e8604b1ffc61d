/// The steps of a file's way that a kill can come into.
enum KillStep: String, CaseIterable, Hashable, Sendable {
    /// The sender has read a file and holds its bytes, but has not committed its document.
    case ingest
    /// The sender gives out the pieces of a file.
    case send
    /// The receiver writes the pieces of a file.
    case fetch
    /// The receiver has committed that it gives a file its name, and has not done so.
    case publish
    /// A file has its name, and the receiver has not committed that, nor its receipt.
    case record

    enum Victim: Sendable { case sender, receiver }

    var victim: Victim { self == .ingest || self == .send ? .sender : .receiver }

    /// In microseconds: about how long it lasts after the signs of it.
    var duration: Int {
        switch self {
        case .ingest: 10_000
        case .send, .fetch: 8000
        case .publish: 800
        case .record: 3000
        }
    }
}
