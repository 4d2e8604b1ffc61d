package import ChuteSystem

/// How a row recognises its inbox or outbox, whatever lies at the path.
package enum RootIdentity: Hashable, Sendable {
    /// The id in `.chute/id`.
    case marked([UInt8])
    /// Where no mark can be written: the file system's id, inode and birth time of the folder.
    case place(fileSystem: UInt64, inode: UInt64, birth: FileStatus.Nanoseconds)

    /// One line for a row.
    package var text: String {
        switch self {
        case .marked(let id): "mark:" + Hexadecimal.text(id)
        case .place(let fileSystem, let inode, let birth): "place:\(fileSystem):\(inode):\(birth)"
        }
    }

    /// Reads `text` back; `nil` where it is something else.
    package init?(text: String) {
        let words = text.split(separator: ":")
        if words.count == 2, words[0] == "mark", let id = Hexadecimal.bytes(words[1]) {
            self = .marked(id)
        } else if words.count == 4, words[0] == "place", let fileSystem = UInt64(words[1]),
            let inode = UInt64(words[2]), let birth = Int64(words[3])
        {
            self = .place(fileSystem: fileSystem, inode: inode, birth: birth)
        } else {
            return nil
        }
    }
}
