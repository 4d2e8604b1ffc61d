import ChuteSystem
import Glibc

/// Removing a file that was moved in.
extension BlobFolder {
    /// Throws `invalid` for a file of this very folder: moving it in would remove the only bytes.
    func checkIsNotOwn(_ source: BytePath) throws {
        let parent = source.parent
        let (above, own) = try describing("\(source) cannot be moved in") {
            () throws(SystemError) in
            (try Folder(at: parent.isEmpty ? "." : parent).status(), try folder.status())
        }
        guard (above.device, above.inode) != (own.device, own.inode) else {
            throw ChuteError(
                .invalid, "\(source) is the engine's own file of an attachment: never move it")
        }
    }

    /// Removes a file whose bytes are durable here, if it still is what was read.
    ///
    /// Its name goes first, to one that nobody else uses; what has that name is looked at, and
    /// gets its own back where it is anything else. Throws `changing` or `permission` then: the
    /// bytes are taken in, and the file is where it was.
    func remove(
        _ source: BytePath, _ file: borrowing FileDescriptor, ifStill read: FileFingerprint
    ) throws {
        let parent = source.parent
        let name = source.lastComponent
        let hidden = BytePath(
            ".chute-" + Hexadecimal.text(SecretBytes.random(count: 8)))
        let isRemoved: Bool
        do throws(SystemError) {
            let above = try Folder(at: parent.isEmpty ? "." : parent)
            try above.renameExclusively(name, to: hidden, in: above)
            let found = try above.status(of: hidden)
            let isSame = found.map { FileFingerprint($0).hasSameContentTimes(as: read) } ?? false
            isRemoved = isSame && file.hasWriter() != true
            if isRemoved {
                try above.remove(hidden)
            } else {
                try above.renameExclusively(hidden, to: name, in: above)
            }
            try above.sync()
        } catch {
            throw ChuteError(error, "\(source) was taken in and cannot be removed")
        }
        guard isRemoved else {
            throw ChuteError(
                .changing,
                "\(source) was taken in and not removed: it was written to meanwhile",
                isTransient: true)
        }
    }
}
