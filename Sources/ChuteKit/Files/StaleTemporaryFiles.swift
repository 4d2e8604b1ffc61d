import ChuteSystem

/// What processes that died left of their temporary files.
enum StaleTemporaryFiles {
    /// Removes the temporary folders of this user's processes that are gone; how many.
    ///
    /// For the start of an engine. `folder` is as for `TemporaryFile`. Never throws: what cannot
    /// be looked at or removed is said to `diagnostics`, and does not matter before the next
    /// start. Touches no folder without the mark of a process, of a process that lives or may
    /// live elsewhere (another namespace, a file system shared by network), or of another user.
    /// Blocks until all is removed.
    @discardableResult
    static func remove(in folder: BytePath? = nil, diagnostics: Diagnostics) -> Int {
        let path = folder ?? TemporaryName.defaultFolder
        guard let own = ProcessMark.own else { return 0 }
        var count = 0
        do throws(SystemError) {
            let parent = try Folder(at: path)
            guard try FileSystemReach.of(parent.descriptor) == .local else { return 0 }
            for entry in try parent.entries() {
                guard let owner = TemporaryName.owner(of: entry.name),
                    owner.isGone(seenFrom: own), try isOurs(entry.name, in: parent)
                else { continue }
                do throws(SystemError) {
                    try parent.removeTree(entry.name)
                    count += 1
                } catch {
                    diagnostics.notice("an old temporary folder cannot be removed: \(error)")
                }
            }
        } catch {
            diagnostics.notice("old temporary folders in \(path) cannot be looked for: \(error)")
        }
        if count > 0 { diagnostics.debug("removed \(count) old temporary folders in \(path)") }
        return count
    }

    private static func isOurs(
        _ name: BytePath, in parent: borrowing Folder
    ) throws(SystemError) -> Bool {
        guard let status = try parent.status(of: name) else { return false }
        return status.kind == .directory && status.owner == FileStatus.ownUser
    }
}
