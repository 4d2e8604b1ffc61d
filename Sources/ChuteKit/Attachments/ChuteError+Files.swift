import ChuteSystem
import Glibc

extension ChuteError {
    /// What a failed call on a file means to who asked for it.
    init(_ error: SystemError, _ what: String) {
        let (code, isTransient): (Code, Bool) =
            switch error.code {
            case ENOENT, ENOTDIR, ENAMETOOLONG: (.notFound, false)
            case EACCES, EPERM, EROFS: (.permission, false)
            case ELOOP, ENXIO, EISDIR, ENODEV: (.notRegularFile, false)
            case ENOSPC: (.noSpace, true)
            case EDQUOT: (.overQuota, true)
            case EEXIST: (.alreadyExists, false)
            default: (.file, true)
            }
        self.init(code, what, isTransient: isTransient, cause: error)
    }
}

/// Runs `body`, and says what was being done where it fails.
func describing<Result: ~Copyable>(
    _ what: @autoclosure () -> String, _ body: () throws(SystemError) -> Result
) throws(ChuteError) -> Result {
    do throws(SystemError) { return try body() } catch { throw ChuteError(error, what()) }
}
