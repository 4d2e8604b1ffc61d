package import ChuteSystem

/// Empties the staging folders of earlier starts.
///
/// Unlinks only inodes that a row says we wrote: an exchange can leave a user's file there, and a
/// number alone may have been given to another file since. All calls block.
package struct StagingReaper {
    /// What a row knows of a staged file.
    package struct Known: Hashable, Sendable {
        package let start: BytePath
        package let name: BytePath
        package let identity: InodeIdentity
        /// Something still needs it: a fetch goes on with it, or an intent publishes it.
        package let isWanted: Bool

        package init(
            start: BytePath, name: BytePath, identity: InodeIdentity, isWanted: Bool
        ) {
            self.start = start
            self.name = name
            self.identity = identity
            self.isWanted = isWanted
        }
    }

    package struct Report: Hashable, Sendable {
        package var removed: [BytePath] = []
        /// `<start>/<name>` of what no row knows: left where it is, and named in `status`.
        package var unknown: [BytePath] = []
        /// Starts whose folder is gone.
        package var emptied: [BytePath] = []
    }

    /// Goes through all starts but `current`.
    package static func reap(
        _ root: FolderRoot, current: BytePath, known: [Known]
    ) throws(SystemError) -> Report {
        var rows: [BytePath: Known] = [:]
        for row in known { rows[row.start.appending(row.name)] = row }
        var report = Report()
        let all = try root.privateFolder("staging")
        for start in try all.entries().map(\.name).sorted() where start != current {
            guard try all.status(of: start)?.kind == .directory else {
                report.unknown.append(start)
                continue
            }
            try reap(start, in: try all.folder(at: start), rows, &report)
            guard try all.folder(at: start).entries().isEmpty else { continue }
            if try all.removeFolder(start) { report.emptied.append(start) }
        }
        return report
    }

    private static func reap(
        _ start: BytePath, in folder: borrowing Folder, _ rows: [BytePath: Known],
        _ report: inout Report
    ) throws(SystemError) {
        for name in try folder.entries().map(\.name).sorted() {
            guard let status = try folder.status(of: name) else { continue }
            let path = start.appending(name)
            if let row = rows[path], row.identity == InodeIdentity(status) {
                guard !row.isWanted, status.kind == .regular else { continue }
                if try folder.remove(name) { report.removed.append(path) }
            } else {
                report.unknown.append(path)
            }
        }
    }
}
