import ChuteKit
import ChuteSystem

/// A start of the agent that made a staging folder in an outbox. Written before anything is
/// staged there, removed once the folder is gone: what lies in another folder is not ours.
struct StagingRecord: LocalRow, Hashable {
    static let collection = "staging"

    var root: Int64
    var start: BytePath

    var key: [UInt8] { folderKey(root, start) }

    init(root: Int64, start: BytePath) {
        self.root = root
        self.start = start
    }

    var fields: Fields { ["root": .integer(root), "start": .path(start)] }

    init(fields: Fields) throws {
        root = try fields.integer("root")
        start = try fields.path("start")
    }
}
