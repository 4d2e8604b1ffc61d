/// What a fetch says on its way: any number of `progress` and `stalled`, then exactly one of
/// the others, after which nothing comes. Cases are added over time: have a `default`.
@nonexhaustive public enum FetchEvent: Hashable, Sendable {
    /// So many of all bytes are here and were checked; never fewer than before.
    case progress(downloadedBytes: UInt64, totalBytes: UInt64)
    /// Nobody who is connected has what is missing; `holders` are those who are known to, as far
    /// as any are. Goes on by itself, with `progress`, once one of them comes.
    case stalled(holders: Set<DeviceID>)
    /// All bytes are here, were checked, and survive a power cut.
    case completed(Attachment)
    /// No document names the attachment any more, or none ever did, and its bytes are not here.
    case deleted
    /// It cannot go on; `isTransient` says whether another fetch may. That one goes on where
    /// this one ended.
    case failed(ChuteError)
    /// `cancel` was called, or the task that waited was cancelled.
    case cancelled

    /// Whether nothing comes after it.
    public var isTerminal: Bool {
        switch self {
        case .progress, .stalled: false
        case .completed, .deleted, .failed, .cancelled: true
        }
    }

    /// From 0 to 1; `nil` for what is no progress. 1 for the empty attachment.
    public var fractionCompleted: Double? {
        guard case .progress(let done, let total) = self else { return nil }
        return total == 0 ? 1 : Double(done) / Double(total)
    }

    /// Two are equal that say the same; errors are compared by code and sentence.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.progress(let a, let b), .progress(let c, let d)): a == c && b == d
        case (.stalled(let a), .stalled(let b)): a == b
        case (.completed(let a), .completed(let b)): a == b
        case (.deleted, .deleted), (.cancelled, .cancelled): true
        case (.failed(let a), .failed(let b)): a.code == b.code && a.message == b.message
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .progress(let done, let total): hasher.combine([0, done, total])
        case .stalled(let holders): hasher.combine(holders)
        case .completed(let attachment): hasher.combine(attachment)
        case .deleted: hasher.combine(1)
        case .failed(let error): hasher.combine(error.message)
        case .cancelled: hasher.combine(2)
        }
    }
}
