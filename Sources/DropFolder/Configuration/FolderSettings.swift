package import ChuteSystem

/// One `[[folder]]`: a collection with an inbox, an outbox, or both.
package struct FolderSettings: Hashable, Sendable {
    package var collection: String
    /// Absolute. What is dropped here is shared.
    package var inbox: BytePath?
    /// Absolute. What others share comes out here.
    package var outbox: BytePath?
    /// Which types are shared and taken.
    package var accept = [MIMEPattern.any]
    /// Patterns of names that are left alone.
    package var ignore = IgnorePatterns.defaults
    /// In bytes; `nil` without limit.
    package var maxSize: UInt64?
    /// What stays free on the outbox's file system, in bytes.
    package var minFree: UInt64 = 1 << 30
    /// What the outbox may hold altogether, in bytes; `nil` without limit.
    package var maxTotal: UInt64?
    package var afterIngest = AfterIngest.keep
    /// Where each published file goes in the outbox.
    package var layout = OutboxLayout.standard
    package var onRetract = OnRetract.keep
    /// Permission bits of published files; `nil` for 0666 less the umask.
    package var fileMode: UInt32?
    /// Permission bits of folders made in the outbox; `nil` for 0777 less the umask.
    package var folderMode: UInt32?

    package init(collection: String, inbox: BytePath? = nil, outbox: BytePath? = nil) {
        self.collection = collection
        self.inbox = inbox
        self.outbox = outbox
    }

    /// What becomes of a dropped file once another device has it.
    package enum AfterIngest: Hashable, Sendable {
        case keep
        case delete
        case move(to: BytePath)
    }

    /// What becomes of a delivered file that its origin takes back.
    package enum OnRetract: String, CaseIterable, Sendable { case keep, trash }
}
