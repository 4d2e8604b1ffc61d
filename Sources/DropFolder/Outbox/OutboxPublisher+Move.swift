package import ChuteSystem
import Glibc

extension OutboxPublisher {
    package enum Moved: Hashable, Sendable {
        /// The copy has its new name, durably.
        case moved(DeliveredCopy)
        /// Not there, or not as we delivered it: it stays as it is.
        case touched
        case failed(PublishFailure)
    }

    /// Moves a delivered copy that nobody touched along with the sender's rename. Never replaces
    /// anything: a taken name gives ` (2)`.
    ///
    /// Needs no intent: after a crash `find` tells by inode and birth time which name it has.
    package func moveCopy(_ copy: DeliveredCopy, to components: [[UInt8]]) -> Moved {
        guard root.isInPlace() else { return .failed(PublishFailure(.notMounted)) }
        do throws(SystemError) { return try move(copy, to: components) } catch {
            return .failed(PublishFailure(error))
        }
    }

    private func move(
        _ copy: DeliveredCopy, to components: [[UInt8]]
    ) throws(SystemError) -> Moved {
        guard let last = components.last, OutboxTree.areNames(components) else {
            return .failed(PublishFailure(.nameRefused))
        }
        let name = copy.path.lastComponent
        guard let source = try tree.branch(at: copy.path.parent),
            let found = try source.folder.status(of: name),
            CopyFingerprint(found) == copy.fingerprint
        else { return .touched }
        let place = try tree.place(components.dropLast(), making: true)
        var number = 1
        while true {
            let target = BytePath(bytes: OutboxNaming.candidate(last, number))
            let path = place.path.appending(target)
            if path == copy.path { return .moved(copy) }
            number += 1
            do throws(SystemError) {
                try source.folder.renameExclusively(name, to: target, in: place.branch.folder)
            } catch {
                if error.exists { continue }
                if error.code == ENOENT { return .touched }
                throw error
            }
            return try settle(
                copy, source, DeliveredCopy(path: path, fingerprint: copy.fingerprint), place.branch
            )
        }
    }

    private func settle(
        _ copy: DeliveredCopy, _ source: OutboxTree.Branch, _ moved: DeliveredCopy,
        _ branch: OutboxTree.Branch
    ) throws(SystemError) -> Moved {
        let target = moved.path.lastComponent
        guard let status = try branch.folder.status(of: target) else { return .touched }
        let fingerprint = CopyFingerprint(status)
        guard fingerprint.isSameButChanged(copy.fingerprint) else {
            // The user put another file there in that moment: it goes back, if its name is free.
            do throws(SystemError) {
                try branch.folder.renameExclusively(
                    target, to: copy.path.lastComponent, in: source.folder)
            } catch {
                guard error.exists || error.isNotFound else { throw error }
            }
            return .touched
        }
        try makeDurable(branch)
        if source.key != branch.key { try Self.syncFolder(source.folder) }
        return .moved(DeliveredCopy(path: moved.path, fingerprint: fingerprint))
    }

    /// Which of these names has the copy; `nil` where none has. For recovery of a move.
    package func find(
        _ identity: InodeIdentity, at paths: [BytePath]
    ) throws(SystemError) -> DeliveredCopy? {
        for path in paths {
            guard let branch = try tree.branch(at: path.parent),
                let status = try branch.folder.status(of: path.lastComponent),
                InodeIdentity(status) == identity
            else { continue }
            return DeliveredCopy(path: path, fingerprint: CopyFingerprint(status))
        }
        return nil
    }
}
