/// What the fetcher tells whoever fetches attachments into the blob folder.
enum FetchNote: Sendable {
    /// A want came to its end, or cannot go on now.
    case ended(FetchOutcome)
    /// Progress, or who may have what: look again. At most one waits.
    case look
}
