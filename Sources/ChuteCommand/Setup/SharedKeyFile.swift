import ChuteSystem
import Glibc

/// The 32 bytes that make whoever holds them a member.
enum SharedKeyFile {
    static let byteCount = 32

    /// Makes the file, 0600 and synced, where there is none; `true` if it was made.
    ///
    /// Throws where what is there cannot be such a key.
    static func prepare(_ path: BytePath) throws -> Bool {
        try NewFile.makeFolders(path.parent)
        var random = SystemRandomNumberGenerator()  // getrandom
        let key = (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
        do {
            try NewFile.write(key, to: path, mode: 0o600)
            return true
        } catch {
            guard error.exists else { throw error }
            try check(path)
            return false
        }
    }

    private static func check(_ path: BytePath) throws {
        let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK)
        let status = try file.status()
        guard status.kind == .regular, status.size == UInt64(byteCount) else {
            throw CommandError(
                .configuration,
                "\(path) is no shared key: expected a file of exactly \(byteCount) bytes")
        }
    }
}
