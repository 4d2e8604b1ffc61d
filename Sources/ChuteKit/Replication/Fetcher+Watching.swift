import ChuteSystem

/// What those who fetch attachments into the blob folder are told.
extension Fetcher {
    /// Says that progress was made, or that something stalled or goes on.
    nonisolated func askToLook() {
        guard isWatched.load(ordering: .relaxed),
            !isLookPending.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        notes.post(.look)
    }

    /// Which of these nobody who is connected has; all of them while nothing is shared.
    func stalled(among attachments: [AttachmentID]) -> Set<AttachmentID> {
        Set(isRunning ? attachments.filter { planner.isStalled($0) } : attachments)
    }

    /// The connected devices that said that they have something of an attachment that is fetched.
    func holders(of attachment: AttachmentID) -> Set<DeviceID> {
        planner.holders(of: attachment)
    }
}
