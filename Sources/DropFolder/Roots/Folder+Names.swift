import ChuteSystem
import Glibc

extension Folder {
    /// Makes the names in the folder survive a power cut. Blocks.
    ///
    /// Some FUSE file systems have no sync for folders; there is nothing to wait for then.
    func syncNames() throws(SystemError) {
        do throws(SystemError) { try sync() } catch {
            guard error.code == EINVAL || error.code == ENOSYS else { throw error }
        }
    }
}
