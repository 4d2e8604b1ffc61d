import ChuteSystem
import Glibc

/// Looks at the folders of a configuration and tries what their file systems can do, in `.chute`
/// alone. All calls block.
struct FolderProbe {
    let configuration: Configuration
    let home: Home

    func checks() -> [FolderCheck] {
        var checks = [check("home", home.stateFolder, minFree: 0)]
        for folder in configuration.folders {
            if let inbox = folder.inbox { checks.append(check("inbox", inbox, minFree: 0)) }
            if let outbox = folder.outbox {
                checks.append(check("outbox", outbox, minFree: folder.minFree))
                if let staging = staging(of: outbox, folder.minFree) { checks.append(staging) }
            }
        }
        return checks
    }

    private func check(_ use: String, _ path: BytePath, minFree: UInt64) -> FolderCheck {
        do throws(SystemError) {
            let folder = try Folder(at: path)
            let info = try FileSystemInfo.of(descriptor: folder.descriptor.raw)
            let tried = use == "home" ? nil : tries(folder)
            return FolderCheck(
                use: use, path: path,
                facts: .found(
                    .init(
                        info: info, abilities: tried?.abilities, foldsCase: tried?.foldsCase,
                        minFree: minFree, writing: .ofWriting(in: path))))
        } catch {
            return FolderCheck(use: use, path: path, facts: .unreachable(.of(path, error)))
        }
    }

    /// Where files get their bytes before they get their names; `nil` where the agent has made none
    /// yet, or the outbox cannot be looked at, which is said of that.
    private func staging(of outbox: BytePath, _ minFree: UInt64) -> FolderCheck? {
        let path = outbox.appending(FolderRoot.markFolder).appending("staging")
        do throws(SystemError) {
            let root = try Folder(at: outbox)
            let folder = try Folder(at: path)
            let (own, other) = (try folder.status(), try root.status())
            return FolderCheck(
                use: "staging", path: path,
                facts: .found(
                    .init(
                        info: try FileSystemInfo.of(descriptor: folder.descriptor.raw),
                        abilities: nil, foldsCase: nil, minFree: minFree,
                        writing: .ofWriting(in: path),
                        isApart: own.device != other.device || own.mount != other.mount)))
        } catch {
            guard !error.isNotFound else { return nil }
            let refusal = FolderRefusal.of(path, error)
            if refusal.closed?.path == outbox { return nil }
            return FolderCheck(use: "staging", path: path, facts: .unreachable(refusal))
        }
    }

    /// `nil` where nothing can be tried: the agent has not been here, or nobody may write.
    private func tries(_ folder: borrowing Folder) -> (abilities: RenameAbilities, foldsCase: Bool)?
    {
        do throws(SystemError) {
            let own = try folder.folder(at: FolderRoot.markFolder)
            _ = try own.makeFolder("doctor", mode: 0o700)
            let place = try own.folder(at: "doctor")
            let abilities = try RenameAbilities.probe(in: place)
            let foldsCase = try foldsCase(place)
            try own.removeFolder("doctor")
            return (abilities, foldsCase)
        } catch {
            return nil  // said as "nothing was tried"
        }
    }

    private func foldsCase(_ folder: borrowing Folder) throws(SystemError) -> Bool {
        try folder.remove("CASE")
        _ = try folder.open("CASE", O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        let folds = try folder.status(of: "case") != nil
        try folder.remove("CASE")
        return folds
    }
}
