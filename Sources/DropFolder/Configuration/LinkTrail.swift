import ChuteSystem
import Glibc

/// Where a file can be exchanged: its own name, and every symbolic link on the way to it, in the
/// middle of the path too. A value of one look.
struct LinkTrail: Hashable {
    struct Place: Hashable {
        let folder: BytePath
        let name: BytePath
    }

    private(set) var places: Set<Place> = []

    /// The kernel gives up after as many links.
    private static let linkLimit = 40

    /// Looks along an absolute path, as far as it leads. Blocks. Calls `readlink`.
    init(to file: BytePath) {
        var rest = Array(file.components.reversed())
        var folder: BytePath = "/"
        var linkCount = 0
        while let component = rest.popLast() {
            let name = BytePath(bytes: component)
            if name == "." { continue }
            if name == ".." {
                folder = folder.parent
                continue
            }
            let path = folder.appending(name)
            if let target = Self.target(of: path), linkCount < Self.linkLimit {
                linkCount += 1
                places.insert(Place(folder: folder, name: name))
                if target.isAbsolute { folder = "/" }
                rest += target.components.reversed()
            } else if rest.isEmpty {
                places.insert(Place(folder: folder, name: name))
            } else {
                folder = path
            }
        }
    }

    /// What a symbolic link says; `nil` for what is none.
    private static func target(of path: BytePath) -> BytePath? {
        withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
            guard let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else {
                return nil
            }
            let count = path.withCString { readlink($0, start, buffer.count) }
            return count > 0 ? BytePath(bytes: buffer[..<count]) : nil
        }
    }
}
