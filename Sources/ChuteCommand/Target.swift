import ChuteSystem
import DropFolder

/// What a person means by the operand of `retract` or `redeliver`.
enum Target: Hashable, Sendable {
    /// A file or folder in an inbox or in an outbox, by the path that begins as it is configured.
    case inbox(BytePath)
    case outbox(BytePath)
    /// The inbox or outbox itself.
    case whole(BytePath)
    /// An id, or a path below an inbox or outbox: what it is, the agent finds out.
    case other(BytePath)

    /// What is sent to the agent.
    var path: BytePath {
        switch self {
        case .inbox(let path), .outbox(let path), .whole(let path), .other(let path): path
        }
    }

    /// Looks where `given` leads from the current folder, through links as the file system would;
    /// the file itself may be gone.
    init(_ given: BytePath, from currentFolder: BytePath, in folders: [FolderSettings]) {
        let absolute = given.absolute(from: currentFolder)
        if Self.isID(given), (try? FileStatus.of(absolute)) == nil {
            self = .other(given)
            return
        }
        for found in [absolute.resolvedButLast, absolute.resolved] {
            for folder in folders {
                for (root, isInbox) in [(folder.inbox, true), (folder.outbox, false)] {
                    guard let root, let below = found.relative(to: root.resolved) else { continue }
                    if below.isEmpty {
                        self = .whole(root)
                    } else {
                        let path = root.appending(below)
                        self = isInbox ? .inbox(path) : .outbox(path)
                    }
                    return
                }
            }
        }
        let names = given.components.filter { $0 != [UInt8(ascii: ".")] }
        self = .other(given.isAbsolute ? absolute : BytePath(components: names))
    }

    /// Whether it can be the beginning of an id, as `list` shows it.
    private static func isID(_ given: BytePath) -> Bool {
        guard let text = given.string, text.utf8.count >= 8 else { return false }
        return text.allSatisfy(\.isHexDigit)
    }
}
