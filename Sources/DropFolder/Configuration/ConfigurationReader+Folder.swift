import ChuteSystem

extension ConfigurationReader {
    private static let folderKeys = [
        "collection", "inbox", "outbox", "accept", "ignore", "max_size", "min_free", "max_total",
        "after_ingest", "after_ingest_folder", "layout", "on_retract", "file_mode", "folder_mode",
    ]

    mutating func folderSettings(_ entries: [TOMLEntry]) -> FolderSettings? {
        var settings = FolderSettings(collection: "pics")
        var afterIngest: TOMLEntry?
        var afterIngestFolder: TOMLEntry?
        for entry in entries {
            switch entry.key {
            case "collection":
                guard let name = string(entry) else { continue }
                settings.collection = name
                if !Self.isCollection(name) {
                    report(
                        entry,
                        "\"\(name)\" is no collection, expected 1 to 64 letters, digits, \"-\" or "
                            + "\"_\", not \"_\" first")
                }
            case "inbox": settings.inbox = root(entry)
            case "outbox": settings.outbox = root(entry)
            case "accept":
                settings.accept = list(entry).compactMap { pattern($0) }
            case "ignore":
                settings.ignore = list(entry).compactMap { string($0, for: "ignore") }
            case "max_size": settings.maxSize = limit(entry)
            case "max_total": settings.maxTotal = limit(entry)
            case "min_free": if let size = size(entry) { settings.minFree = size }
            case "after_ingest": afterIngest = entry
            case "after_ingest_folder": afterIngestFolder = entry
            case "layout":
                guard let text = string(entry) else { continue }
                do {
                    settings.layout = try OutboxLayout(text)
                } catch {
                    report(entry, error.description)
                }
            case "on_retract":
                if let policy = choice(entry, FolderSettings.OnRetract.self) {
                    settings.onRetract = policy
                }
            case "file_mode": settings.fileMode = mode(entry, allowed: 0o666)
            case "folder_mode": settings.folderMode = mode(entry, allowed: 0o3777)
            default: unknown(entry, "key of [[folder]]", among: Self.folderKeys)
            }
        }
        let named = entries.first { $0.key == "collection" }
        let position = named?.value.position ?? entries.first?.position ?? .start
        collections.append((settings.collection, position))
        settings.afterIngest = self.afterIngest(afterIngest, afterIngestFolder, settings.inbox)
        if !entries.contains(where: { $0.key == "inbox" || $0.key == "outbox" }) {
            report(
                entries.first?.position ?? .start,
                "a [[folder]] with neither inbox nor outbox, expected at least one")
        }
        return settings
    }

    private mutating func root(_ entry: TOMLEntry) -> BytePath? {
        guard let path = path(entry) else { return nil }
        roots.append((path, entry.key, entry.value.position))
        return path
    }

    private mutating func afterIngest(
        _ entry: TOMLEntry?, _ folder: TOMLEntry?, _ inbox: BytePath?
    ) -> FolderSettings.AfterIngest {
        let target = folder.flatMap { folder in
            folder.value.content == .string("") ? nil : path(folder)
        }
        guard let entry else { return .keep }
        let word = choice(entry, AfterIngestWord.self)
        if inbox == nil, let word, word != .keep {
            notice(entry, "after_ingest has no effect in a [[folder]] without an inbox")
        }
        switch word {
        case nil, .keep: return .keep
        case .delete: return .delete
        case .move:
            guard let folder, let target else {
                report(entry, "after_ingest = \"move\" needs after_ingest_folder")
                return .keep
            }
            moveTargets.append((target, folder.value.position))
            return .move(to: target)
        }
    }

    private enum AfterIngestWord: String, CaseIterable { case keep, delete, move }

    mutating func pattern(_ value: TOMLValue) -> MIMEPattern? {
        guard let text = string(value, for: "accept") else { return nil }
        if let pattern = MIMEPattern(text) { return pattern }
        report(
            value.position,
            "\"\(text)\" is no type, expected \"image/jpeg\", \"image/*\" or \"*/*\"")
        return nil
    }

    /// Permission bits: an octal number in a string; empty for those of the umask.
    private mutating func mode(_ entry: TOMLEntry, allowed: UInt32) -> UInt32? {
        guard let text = string(entry), !text.isEmpty else { return nil }
        let isOctal = text.utf8.allSatisfy { (0x30...0x37).contains($0) } && text.utf8.count <= 5
        guard isOctal, let mode = UInt32(text, radix: 8) else {
            report(entry, "\"\(text)\" is no mode, expected octal digits such as \"0640\"")
            return nil
        }
        if mode & ~allowed != 0 {
            let limit = String(allowed, radix: 8)
            report(entry, "mode \(text) is not possible here, expected bits of 0\(limit) only")
            return nil
        }
        return mode
    }

    /// What a collection may be called; those that begin with `_` are the library's own.
    static func isCollection(_ name: String) -> Bool {
        guard let first = name.first, first != "_", name.utf8.count <= 64 else { return false }
        return name.unicodeScalars.allSatisfy {
            $0 == "-" || $0 == "_" || $0.properties.isAlphabetic
                || $0.properties.numericType == .decimal
        }
    }
}
