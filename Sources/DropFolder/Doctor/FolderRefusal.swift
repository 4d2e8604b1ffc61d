import ChuteSystem
import Glibc

/// Why a folder cannot be used, and what to do about it.
struct FolderRefusal: Hashable {
    let error: SystemError
    /// What lets this user not in: the folder itself, or one above it. `nil` where rights are not
    /// what is missing.
    var closed: Closed?

    struct Closed: Hashable {
        let path: BytePath
        /// Whether it belongs to this user.
        let isOwn: Bool
    }

    /// What to do for a folder of this use.
    func remedy(_ use: String) -> String {
        guard let closed else {
            if error.isNotFound, use == "home" {
                return "run `chute init` or `chute run`, which make it"
            }
            return "mount the drive it lies on, or name another folder in the configuration"
        }
        let rights = use == "inbox" ? "u+rx" : "u+rwx"
        let word = closed.path.shellWord
        return closed.isOwn
            ? "let this user in: chmod \(rights) \(word)"
            : "let this user in: sudo chown \"$(id -un)\" \(word), or give its group the right by "
                + "sudo chmod"
    }
}

extension FolderRefusal {
    /// Finds out what `error`, of opening or writing `path`, is about. Blocks.
    static func of(_ path: BytePath, _ error: SystemError) -> FolderRefusal {
        guard error.code == EACCES || error.code == EPERM else {
            return FolderRefusal(error: error)
        }
        var path = path
        while true {
            do throws(SystemError) {
                let status = try FileStatus.of(path, followingLinks: true)
                return FolderRefusal(
                    error: error,
                    closed: .init(path: path, isOwn: status.owner == FileStatus.ownUser))
            } catch {
                // One above it lets nobody through.
                guard path != path.parent else { return FolderRefusal(error: error) }
                path = path.parent
            }
        }
    }

    /// Why this user cannot make files in a folder; `nil` where it can. Blocks. Calls `access`.
    static func ofWriting(in path: BytePath) -> FolderRefusal? {
        guard path.withCString({ access($0, W_OK | X_OK) }) != 0 else { return nil }
        return of(path, .current("access", path))
    }
}
