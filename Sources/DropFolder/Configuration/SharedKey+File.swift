import ChuteKit
import ChuteSystem
import Glibc

extension SharedKey {
    /// Why a file is no key that can be used.
    struct FileError: Error, CustomStringConvertible {
        /// There is no such file.
        let isMissing: Bool
        let description: String
    }

    /// Reads a key file. Blocks, but not on a pipe in its place.
    static func read(_ path: BytePath) throws(FileError) -> SharedKey {
        let bytes: [UInt8]
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK)
            bytes = try file.read(count: byteCount + 1, at: 0)
        } catch {
            throw FileError(
                isMissing: error.isNotFound,
                description: "the shared key \(path) cannot be read: \(error.reason)")
        }
        guard let key = SharedKey(bytes: bytes) else {
            throw FileError(
                isMissing: false,
                description: "the shared key \(path) must have \(byteCount) bytes: copy it again")
        }
        return key
    }
}
