package import ChuteSystem
import Glibc

/// The files of a folder, by the bytes of their names and by their content.
package struct FolderTree: Hashable, Sendable, CustomStringConvertible {
    /// A content, by its length and SHA-256.
    package struct Content: Hashable, Sendable {
        package let byteCount: UInt64
        package let digest: [UInt8]

        package init(_ bytes: [UInt8]) {
            byteCount = UInt64(bytes.count)
            digest = SHA256.hash(bytes)
        }

        /// The content of the file at `path`. Throws `ENOENT` where it is gone. Blocks.
        package init(of path: BytePath) throws(SystemError) {
            let file = try FileDescriptor.open(path, FileDescriptor.readOnly)
            let hash = SHA256()
            var offset: UInt64 = 0
            while true {
                let bytes = try file.read(count: 1 << 20, at: offset)
                if bytes.isEmpty { break }
                hash.update(bytes)
                offset += UInt64(bytes.count)
            }
            byteCount = offset
            digest = hash.finish()
        }
    }

    /// Paths below the folder.
    package var files: [BytePath: Content]

    package init(files: [BytePath: Content] = [:]) { self.files = files }

    /// All regular files below `folder`; what lies in `.chute` is the agent's own. Blocks.
    package init(of folder: BytePath) throws {
        files = [:]
        for path in try Self.paths(below: folder) {
            files[path] = try Content(of: folder.appending(path))
        }
    }

    /// The same files below `folder`.
    package func below(_ folder: BytePath) -> FolderTree {
        FolderTree(
            files: Dictionary(
                uniqueKeysWithValues: files.map { (folder.appending($0.key), $0.value) }))
    }

    /// The paths of all regular files below `folder`, without reading them. Blocks.
    package static func paths(below folder: BytePath) throws -> [BytePath] {
        var found: [BytePath] = []
        var pending: [BytePath] = [""]
        while let next = pending.popLast() {
            let path = next.isEmpty ? folder : folder.appending(next)
            for entry in try Folder(at: path).entries() where entry.name != ".chute" {
                let below = next.isEmpty ? entry.name : next.appending(entry.name)
                let status: FileStatus
                do throws(SystemError) { status = try FileStatus.of(folder.appending(below)) } catch
                {
                    if error.isNotFound { continue }  // an agent took it away meanwhile
                    throw error
                }
                switch status.kind {
                case .directory: pending.append(below)
                case .regular: found.append(below)
                case .symlink, .other: break
                }
            }
        }
        return found
    }

    package var description: String {
        files.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value.byteCount))" }
            .joined(separator: ", ")
    }
}
