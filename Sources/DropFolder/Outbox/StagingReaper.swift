package import ChuteSystem

/// Empties staging of what nothing needs any more.
///
/// Unlinks only what we wrote. That needs no row for each file: a start's folder is ours alone
/// (0700, a random name, a row from before its first file), and nothing but an exchange puts
/// another inode at a name that we gave. Each exchange has an intent with the inode and birth time
/// of our file, durable before it, and kept until the disk was looked at by them: while there is
/// one, its name is needed. All calls block.
package enum StagingReaper {
    /// What the rows know.
    package struct Known: Hashable, Sendable {
        /// The starts whose folders this device made.
        package var starts: Set<BytePath>
        /// `<start>/<name>` of what a fetch goes on with, or an intent names.
        package var needed: Set<BytePath>

        package init(starts: Set<BytePath>, needed: Set<BytePath> = []) {
            self.starts = starts
            self.needed = needed
        }
    }

    package struct Report: Hashable, Sendable {
        package var removed: [BytePath] = []
        /// What we did not write: left where it is.
        package var unknown: [BytePath] = []
        /// Starts whose folder is gone.
        package var emptied: [BytePath] = []
    }

    /// `<start>/<name>` of everything in staging; a start alone where its folder is empty, or
    /// where it is none.
    package static func files(in root: FolderRoot) throws(SystemError) -> [BytePath] {
        let all = try root.privateFolder("staging")
        var files: [BytePath] = []
        for start in try all.entries().map(\.name).sorted() {
            guard try all.status(of: start)?.kind == .directory else {
                files.append(start)
                continue
            }
            let names = try all.folder(at: start).entries().map(\.name).sorted()
            files += names.isEmpty ? [start] : names.map { start.appending($0) }
        }
        return files
    }

    /// Removes of `files` what is ours and not needed, and then folders that are empty, except
    /// that of the `current` start.
    package static func reap(
        _ files: [BytePath], in root: FolderRoot, current: BytePath, known: Known
    ) throws(SystemError) -> Report {
        var report = Report()
        let all = try root.privateFolder("staging")
        var starts: Set<BytePath> = []
        for path in files {
            guard let status = try all.status(of: path) else { continue }
            let start = path.parent
            guard !start.isEmpty else {
                if status.kind == .directory {
                    starts.insert(path)
                } else {
                    report.unknown.append(path)
                }
                continue
            }
            starts.insert(start)
            guard !known.needed.contains(path) else { continue }
            guard known.starts.contains(start), StagedName.isOurs(path.lastComponent),
                status.kind == .regular
            else {
                report.unknown.append(path)
                continue
            }
            let folder = try all.folder(at: start)
            if try folder.remove(path.lastComponent) { report.removed.append(path) }
        }
        for start in starts.sorted() where start != current {
            guard try all.status(of: start)?.kind == .directory,
                try all.folder(at: start).entries().isEmpty
            else { continue }
            if try all.removeFolder(start) { report.emptied.append(start) }
        }
        return report
    }
}
