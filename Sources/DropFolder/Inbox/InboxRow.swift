package import ChuteSystem

/// What is recorded of a name in an inbox, as far as decisions need it.
package struct InboxRow: Hashable, Sendable {
    package var path: BytePath
    package var documentID: [UInt8]
    package var content: InboxContent
    package var fingerprint: FileFingerprint
    /// The doubt that the recorded content went out with.
    package var note: IngestNote?
    /// The name stood empty since: its next file is another document.
    package var wasSeenAbsent: Bool

    package init(
        path: BytePath, documentID: [UInt8], content: InboxContent, fingerprint: FileFingerprint,
        note: IngestNote? = nil, wasSeenAbsent: Bool = false
    ) {
        self.path = path
        self.documentID = documentID
        self.content = content
        self.fingerprint = fingerprint
        self.note = note
        self.wasSeenAbsent = wasSeenAbsent
    }
}
