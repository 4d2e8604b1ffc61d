package import ChuteSystem

/// Names that are never shared: what other programs leave beside the files a person means.
///
/// What is ignored is listed as skipped, so that a finished file of such a name does not vanish
/// without a word.
package struct IgnorePatterns: Hashable, Sendable {
    private let patterns: [GlobPattern]

    /// Patterns as in `GlobPattern`; setting them replaces the default list.
    package init(_ patterns: [String] = IgnorePatterns.defaults) {
        self.patterns = patterns.filter { !$0.isEmpty }.map { GlobPattern($0.utf8) }
    }

    /// Whether the path, or a folder that it lies in, is to be left out.
    package func matches(_ path: BytePath, isFolder: Bool) -> Bool {
        let components = path.bytes.split(separator: BytePath.separator)
        return patterns.contains { pattern in
            if pattern.matchesWholePath { return matches(pattern, path, components, isFolder) }
            return components.indices.contains { index in
                let canMatch =
                    !pattern.matchesFoldersOnly || isFolder || index + 1 < components.count
                return canMatch && pattern.matches(components[index])
            }
        }
    }

    private func matches(
        _ pattern: GlobPattern, _ path: BytePath, _ components: [ArraySlice<UInt8>],
        _ isFolder: Bool
    ) -> Bool {
        (1...max(components.count, 1)).contains { count in
            let isLast = count >= components.count
            guard isFolder || !isLast || !pattern.matchesFoldersOnly else { return false }
            return pattern.matches(Array(components.prefix(count).joined(separator: [0x2F])))
        }
    }

    /// The list that holds where the configuration says nothing.
    package static let defaults: [String] = [
        // Unfinished downloads and transfers, which get their real name at the end.
        "*.part", "*.partial", "*.crdownload", "*.download", "*.opdownload", "*.filepart",
        "*.tmp", "*.temp", "*.aria2", "*.!ut", "*.!qB", "*.~tmp~", "qt_temp.*", ".~tmp~",
        ".goutputstream-*", ".dat.nosync*", ".syncthing.*", "~syncthing~*.tmp", ".fuse_hidden*",
        ".nfs*", ".sb-*",
        // Locks, swap and backup files of editors and offices.
        "~$*", ".~lock*", ".~*", "*~", "*.swp", "*.swx", "4913", "#*#",
        "*_exiftool_tmp",
        // What systems leave in every folder.
        ".DS_Store", "._*", ".AppleDouble", ".AppleDB", ".LSOverride", ".Spotlight-V100",
        ".Trashes", ".Trash-*", ".fseventsd", ".DocumentRevisions-V100", ".TemporaryItems",
        ".apdisk", ".com.apple.timemachine.*", "Icon\r", "__MACOSX/", "[Tt]humbs.db",
        "[Ee]hthumbs.db", "[Dd]esktop.ini", "$RECYCLE.BIN/", "System Volume Information/",
        "lost+found/", ".nomedia",
        // What storage boxes and other synchronisers leave.
        "@eaDir", "@tmp/", "#recycle/", "#snapshot/", ".@__thumb", ".thumbnails", ".stfolder*",
        ".stversions", ".stignore", ".sync", ".SyncID", ".SyncIgnore", ".owncloudsync.log",
        "._sync_*.db*", ".sync_*.db*", ".csync_journal.db*", ".localized",
    ]
}
