import ChuteSystem

/// What the file system of one folder can do, and what follows.
struct FolderCheck: Hashable {
    /// What it is used as: `inbox`, `outbox`, `staging`, `home`.
    let use: String
    let path: BytePath
    let facts: Facts

    enum Facts: Hashable {
        /// It cannot be looked at.
        case unreachable(FolderRefusal)
        case found(Found)
    }

    struct Found: Hashable {
        let info: FileSystemInfo
        /// `nil` where nothing was tried: nothing may be written there.
        let abilities: RenameAbilities?
        /// Whether two names that differ in case alone are one.
        let foldsCase: Bool?
        /// What stays free by configuration, in bytes.
        let minFree: UInt64
        /// Why files cannot be made there; `nil` where they can, or need not be.
        var writing: FolderRefusal?
        /// Where files are staged for an outbox: on another file system than that.
        var isApart = false
    }

    private static let fewFiles: UInt64 = 1000

    var findings: [Finding] {
        let check = "\(use) \(path)"
        switch facts {
        case .unreachable(let refusal):
            return [.failed(check, refusal.error.reason, refusal.remedy(use))]
        case .found(let found):
            return [space(check, found)] + traits(check, found)
        }
    }

    private func space(_ check: String, _ found: Found) -> Finding {
        let free = ByteCount.text(found.info.freeBytes) + " free"
        if found.info.isReadOnly, use != "inbox" {
            return .failed(check, "is mounted read-only", "mount it for writing")
        }
        if let writing = found.writing, use != "inbox" {
            return .failed(
                check, "cannot be written: \(writing.error.reason)", writing.remedy(use))
        }
        if found.isApart {
            return .failed(
                check, "is on another file system than its outbox: no file gets its name there",
                "unmount what is mounted there")
        }
        if let files = found.info.freeFiles, files < Self.fewFiles {
            return .failed(
                check, "only \(files) files more can be made there (inodes)",
                "remove files that are not needed, or use another file system")
        }
        guard use != "inbox", found.info.freeBytes < found.minFree else {
            return .works(
                check, use == "staging" ? "on its outbox's file system, \(free)" : free)
        }
        return .failed(
            check, "\(free), and \(ByteCount.text(found.minFree)) are to stay free (min_free)",
            "make room, or lower min_free in [[folder]]")
    }

    private func traits(_ check: String, _ found: Found) -> [Finding] {
        var words: [String] = []
        if FileSystemReach.of(type: found.info.type) == .remote {
            words.append("a network file system: looked at now and then, without events")
        }
        if let abilities = found.abilities {
            words.append(
                abilities.clones ? "copies take no space (reflink)" : "copies take their space")
            words.append(
                abilities.renamesExclusively
                    ? "renames without replacing" : "no rename without replacing: links instead")
            words.append(
                abilities.exchanges
                    ? "exchanges files" : "no exchange: a new version stands beside the old one")
        }
        if found.foldsCase == true {
            words.append("names that differ in case alone are one: the second gets a number")
        }
        return words.isEmpty ? [] : [.note(check, words.joined(separator: "; "))]
    }
}
