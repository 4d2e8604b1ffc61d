import ChuteSystem
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
    /// Needs no intent: after a crash the same call finds the copy by inode and birth time at its
    /// new name, makes that durable and says `moved`.
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
        let source = try tree.branch(at: copy.path.parent)
        guard let source, let found = try source.folder.status(of: name),
            InodeIdentity(found) == copy.fingerprint.identity
        else { return try alreadyMoved(copy, from: source, to: components) }
        guard CopyFingerprint(found) == copy.fingerprint else { return .touched }
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

    /// Where a crash came after the rename: the copy has the new name, or one beside it.
    private func alreadyMoved(
        _ copy: DeliveredCopy, from source: OutboxTree.Branch?, to components: [[UInt8]]
    ) throws(SystemError) -> Moved {
        guard let last = components.last else { return .touched }
        let place = try tree.place(components.dropLast(), making: false)
        guard place.isComplete else { return .touched }
        let entries = try place.branch.folder.entries()
        for entry in entries where entry.inode == copy.fingerprint.identity.inode {
            let isNamedSo = (1...entries.count).contains {
                OutboxNaming.candidate(last, $0) == entry.name.bytes
            }
            guard isNamedSo, let status = try place.branch.folder.status(of: entry.name),
                CopyFingerprint(status).isSameButChanged(copy.fingerprint)
            else { continue }
            try makeDurable(place.branch)
            if let source, source.key != place.branch.key { try Self.syncFolder(source.folder) }
            return .moved(
                DeliveredCopy(
                    path: place.path.appending(entry.name), fingerprint: CopyFingerprint(status)))
        }
        return .touched
    }
}
