import ChuteSystem
import Glibc

extension BytePath {
    /// Makes a symbolic link here. Calls `symlink`.
    func makeSymbolicLink(to target: BytePath) throws(SystemError) {
        let result = target.withCString { target in withCString { symlink(target, $0) } }
        guard result == 0 else { throw .current("symlink", self) }
    }
}
