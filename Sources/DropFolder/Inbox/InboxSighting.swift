package import ChuteSystem

/// What an `InboxWatcher` saw. Paths are relative to the inbox. Hints all: who acts on one looks
/// at the file first.
package enum InboxSighting: Hashable, Sendable {
    /// How a name was seen.
    package enum Kind: Hashable, Sendable {
        case created, closedWrite, modified, attributes, deleted
        /// The two halves of a rename have one cookie.
        case movedTo(cookie: UInt32)
        case movedFrom(cookie: UInt32)
        case scanned(FileStatus)
    }

    case file(BytePath, Kind)
    /// Something that is not shared came or went; `nil` where a scan found it.
    case skipped(BytePath, SkipReason, Kind?)
    /// A folder was renamed or moved away: no name below this path stands any more.
    case folderMovedFrom(BytePath)
    /// A scan of the whole inbox begins. `afterAbsence` is said of the first one since the
    /// agent, or the inbox, was away: only there may a rename be told by equal bytes.
    case scanBegan(generation: UInt64, afterAbsence: Bool)
    /// It ends. What it did not name, and no event named meanwhile, is gone.
    case scanEnded(generation: UInt64, Coverage)
    case state(InboxState)

    /// What a scan saw.
    package struct Coverage: Hashable, Sendable {
        /// Only then does absence mean anything.
        package var isComplete: Bool
        /// Folders that could not be read: absence below them means nothing.
        package var unread: [BytePath]

        package init(isComplete: Bool, unread: [BytePath] = []) {
            self.isComplete = isComplete
            self.unread = unread
        }

        /// Whether a name that this scan did not find is gone.
        package func saysAbsent(_ path: BytePath) -> Bool {
            isComplete && !unread.contains { path.relative(to: $0) != nil }
        }
    }
}

extension InboxSighting.Kind {
    /// Nothing happened to the file: it was merely there.
    var isLook: Bool { if case .scanned = self { true } else { false } }
}
