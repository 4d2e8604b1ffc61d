package import ChuteSystem

/// What a file that was read is: known, a version, a renamed one, or new.
///
/// A pure function of what was seen and what is recorded.
package enum InboxDecision: Hashable, Sendable {
    /// The recorded bytes: record the fingerprint anew, tell nobody.
    case unchanged
    case newDocument
    case newVersion(of: [UInt8])
    /// The document of the row at `from` has this path now. `isNewVersion`: and other bytes.
    case rename(from: BytePath, of: [UInt8], isNewVersion: Bool)
    /// Not told: it would replace a good version by a broken one. Listed with the note's reason.
    case withheld(IngestNote)
    /// It was read before `after_ingest` took it away, and has left.
    case gone
    /// Ask again at this moment: a rename shows only after a quiet second.
    case wait(until: Duration)

    /// What was read.
    package struct Observation: Hashable, Sendable {
        package var path: BytePath
        package var fingerprint: FileFingerprint
        package var content: InboxContent
        package var note: IngestNote?
        package var continuity: NameHistory.Continuity
        /// When it was read, on the clock of `now`. The file can be quicker than the events that
        /// tell how it came: what nothing explains is decided a quiet second later.
        package var readAt: Duration?

        package init(
            path: BytePath, fingerprint: FileFingerprint, content: InboxContent,
            note: IngestNote? = nil, continuity: NameHistory.Continuity = .undisturbed,
            readAt: Duration? = nil
        ) {
            self.path = path
            self.fingerprint = fingerprint
            self.content = content
            self.note = note
            self.continuity = continuity
            self.readAt = readAt
        }
    }

    /// Another name that is recorded with this very file. Whether it is occupied is to be asked of
    /// the folder, since the events of a rename may not have come yet.
    package struct OtherName: Hashable, Sendable {
        package enum State: Hashable, Sendable {
            /// It has a file: this one too (a second link) or another by now.
            case occupied
            /// Empty since that moment, or since the look; `nil` when it went while the agent was
            /// off.
            case absent(since: Duration?)
        }

        package var row: InboxRow
        package var state: State

        package init(row: InboxRow, state: State) {
            self.row = row
            self.state = state
        }
    }

    /// What `after_ingest` does with the file that was read.
    package enum Way: Hashable, Sendable {
        /// It is no file that is being taken, or was.
        case none
        /// It was set aside and has a name again: the row, whatever it says, is the file's.
        case back
        /// It is not under its name any more.
        case left
    }

    /// What is recorded.
    package struct Knowledge: Hashable, Sendable {
        /// The row of this path.
        package var here: InboxRow?
        package var way: Way
        /// Rows of other paths whose file has the same inode and birth time.
        package var sameFile: [OtherName] = []
        /// Rows with the same content that the first scan after an absence found gone. Empty at
        /// any other time.
        package var vanishedWithContent: [InboxRow] = []
        /// How many names without a row that scan found with this content, this one included.
        package var newNamesWithContent = 0

        package init(
            here: InboxRow? = nil, way: Way = .none, sameFile: [OtherName] = [],
            vanishedWithContent: [InboxRow] = [], newNamesWithContent: Int = 0
        ) {
            self.here = here
            self.way = way
            self.sameFile = sameFile
            self.vanishedWithContent = vanishedWithContent
            self.newNamesWithContent = newNamesWithContent
        }
    }

    /// Decides. `now` is on the clock of `OtherName.State.absent`.
    package static func of(
        _ seen: Observation, knowing known: Knowledge, now: Duration,
        quiet: Duration = .seconds(1)
    ) -> InboxDecision {
        if known.way == .left, known.here?.content == seen.content { return .gone }
        let isBack = known.way == .back
        if let here = known.here, isBack || !here.wasSeenAbsent {
            if here.content == seen.content { return .unchanged }
            if isBack || goesOn(here, seen) {
                return worsens(here, seen) ?? .newVersion(of: here.documentID)
            }
            if let readAt = seen.readAt, isUnexplained(here, seen), now < readAt + quiet {
                return .wait(until: readAt + quiet)
            }
        }
        return rename(seen, known, now, quiet) ?? .newDocument
    }

    /// A version needs continuity: the name was never seen absent, and the file is the same or
    /// took the name from it in one step.
    private static func goesOn(_ here: InboxRow, _ seen: Observation) -> Bool {
        switch seen.continuity {
        case .undisturbed: here.fingerprint.isSameFile(as: seen.fingerprint)
        case .replacedByRename, .takenAgain: true
        case .seenAbsent: false
        }
    }

    /// Another file under a name to which nothing is known to have happened.
    private static func isUnexplained(_ here: InboxRow, _ seen: Observation) -> Bool {
        seen.continuity == .undisturbed
    }

    private static func worsens(_ row: InboxRow, _ seen: Observation) -> InboxDecision? {
        guard row.note == nil, let note = seen.note else { return nil }
        return .withheld(note)
    }

    private static func rename(
        _ seen: Observation, _ known: Knowledge, _ now: Duration, _ quiet: Duration
    ) -> InboxDecision? {
        let sameFile = known.sameFile
            .filter { $0.row.fingerprint.isSameFile(as: seen.fingerprint) }
            .sorted { $0.row.path < $1.row.path }
        for other in sameFile {
            // An occupied name keeps its document: this is a link, or what an editor set aside.
            guard case .absent(let since) = other.state else { continue }
            if let since, now < since + quiet { return .wait(until: since + quiet) }
            let isNewVersion = other.row.content != seen.content
            if isNewVersion, let withheld = worsens(other.row, seen) { return withheld }
            return .rename(
                from: other.row.path, of: other.row.documentID, isNewVersion: isNewVersion)
        }
        // By equal bytes only where nothing else can be meant.
        guard seen.content.byteCount > 0, known.newNamesWithContent == 1,
            known.vanishedWithContent.count == 1, let gone = known.vanishedWithContent.first,
            gone.content == seen.content
        else { return nil }
        return .rename(from: gone.path, of: gone.documentID, isNewVersion: false)
    }
}
