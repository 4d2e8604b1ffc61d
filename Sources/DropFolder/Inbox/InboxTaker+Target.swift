import ChuteKit
import ChuteSystem
import Glibc

/// The folder for what is moved.
extension InboxTaker {
    /// Opens `after_ingest_folder`, which is made once; `nil`, and why in `targetTrouble`, where
    /// it is not there, is another one, or cannot be used.
    func openTarget(_ path: BytePath) async throws -> MoveTarget? {
        let known = try await chute.store.read {
            try $0.row(MoveTargetRecord.self, path.bytes)
        }
        let space = await chute.space?.description
        let found: Result<FolderRoot, TargetTrouble>
        do throws(SystemError) { found = try target(at: path, known, space) } catch {
            found = .failure(TargetTrouble(sentence: "\(path) cannot be used: \(error)"))
        }
        switch found {
        case .failure(let trouble):
            if targetTrouble != trouble.sentence {
                log.warning("after_ingest: files stay in \(settings.inbox): \(trouble.sentence)")
            }
            targetTrouble = trouble.sentence
            return nil
        case .success(let root):
            targetTrouble = nil
            let site = site(of: root)
            let record = MoveTargetRecord(path: path, identity: root.identity, site: site)
            if known?.fields != record.fields {
                try await chute.store.write { try $0.put(record) }
            }
            return MoveTarget(root)
        }
    }

    /// Where it is now: of where it was before nothing is kept. Where that cannot be told, a folder
    /// that is made anew will not be taken.
    private func site(of root: borrowing FolderRoot) -> RootSite? {
        do throws(SystemError) { return try RootSite.of(root.folder) } catch {
            log.debug("after_ingest: where \(root.path) lies cannot be told: \(error)")
            return nil
        }
    }

    private struct TargetTrouble: Error { let sentence: String }

    private func target(
        at path: BytePath, _ known: MoveTargetRecord?, _ space: String?
    ) throws(SystemError) -> Result<FolderRoot, TargetTrouble> {
        if let conflict = try overlap(of: path, space) {
            return .failure(.init(sentence: "\(conflict.sentence): give each a folder of its own"))
        }
        if let known {
            if case .ready(let root) = try FolderRoot.open(at: path, expected: known.identity) {
                return .success(root)
            }
            let state = try MoveTarget.successor(at: path, of: known.site)
            guard state == .empty else {
                return .failure(.init(sentence: "\(path) \(state.words)"))
            }
            log.notice("after_ingest: \(path) was made anew, and is used")
        }
        let root = try FolderRoot.establish(at: path, use: .init(.afterIngest, space: space))
        if let site = known?.site, try RootSite.of(root.folder) != site {
            return .failure(.init(sentence: "\(path) was mounted this moment"))
        }
        guard case .marked = root.identity else {
            return .failure(.init(sentence: "\(path) cannot be written"))
        }
        return .success(root)
    }

    private func overlap(
        of path: BytePath, _ space: String?
    ) throws(SystemError) -> RootOverlap.Conflict? {
        var places = [
            try RootOverlap.Place.at(path, use: .init(.afterIngest, space: space))
        ]
        for (root, kind) in settings.roots {
            places.append(try RootOverlap.Place.at(root, use: .init(kind, space: space)))
        }
        return RootOverlap.conflicts(among: places).first { $0.involves(path) }
    }
}

extension RootOverlap.Conflict {
    fileprivate func involves(_ path: BytePath) -> Bool {
        switch self {
        case .same(let one, let other), .inside(let one, let other): one == path || other == path
        case .markedAs(_, let marked): marked == path
        }
    }
}
