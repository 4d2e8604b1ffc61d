import ChuteSystem
import Glibc

extension PublishGroup {
    private static let attemptLimit = 16

    /// Step 2, first half: chooses a free name for each item that has none, or adopts the file
    /// that has it. What is given is to be committed before `rename`.
    ///
    /// Empty once every item has a name or has failed.
    package func intents() -> [PublishIntent] {
        places.removeAll()
        var reserved: [BytePath: UInt64] = [:]
        for index in items.indices {
            guard case .waiting = states[index] else { continue }
            attempts[index] += 1
            guard attempts[index] <= Self.attemptLimit else {
                fail(index, PublishFailure(.refused))
                continue
            }
            do throws(SystemError) { try choose(index, &reserved) } catch {
                fail(index, PublishFailure(error))
            }
        }
        return items.indices.compactMap { index in
            guard case .intended(let target) = states[index], let print = prints[index] else {
                return nil
            }
            let staged = items[index].staged
            return PublishIntent(
                index: index, start: staged.staging.start, stagedName: staged.name,
                target: target.path, fingerprint: print, replacing: target.replacing)
        }
    }

    private func choose(
        _ index: Int, _ reserved: inout [BytePath: UInt64]
    ) throws(SystemError) {
        let item = items[index]
        let status = try item.staged.descriptor.status()
        let size = status.size
        prints[index] = CopyFingerprint(status)
        if let old = item.replacing, !standsBeside.contains(index), reserved[old.path] == nil {
            if try isUntouched(old) {
                reserved[old.path] = size
                states[index] = .intended(
                    Target(
                        folder: old.path.parent, name: old.path.lastComponent,
                        replacing: old.fingerprint))
                return
            }
            standsBeside.insert(index)
        }
        guard let last = item.components.last else { return }
        let place = try place(item.components.dropLast(), making: false)
        var number = 1
        while true {
            let bytes = OutboxNaming.candidate(last, number)
            let target = Target(
                folder: place.path, name: BytePath(bytes: bytes), replacing: nil)
            number += 1
            if let other = reserved[target.path] {
                // Perhaps the same bytes: once the other has its name, this one adopts it.
                if other == size {
                    attempts[index] -= 1
                    return
                }
                continue
            }
            if place.isComplete, let found = try place.branch.folder.status(of: target.name) {
                guard try adopt(index, found, target, place.branch) else { continue }
                return
            }
            reserved[target.path] = size
            states[index] = .intended(target)
            return
        }
    }

    // The probe before an exchange: what lies there is what we delivered, and nobody writes it.
    private func isUntouched(_ copy: DeliveredCopy) throws(SystemError) -> Bool {
        guard let branch = try publisher.tree.branch(at: copy.path.parent),
            let file = try openFile(copy.path.lastComponent, in: branch.folder)
        else { return false }
        let status = try file.status()
        return CopyFingerprint(status) == copy.fingerprint && file.hasWriter() != true
    }

    /// Takes the file that has the name, if it has the same bytes and nobody changes it.
    private func adopt(
        _ index: Int, _ found: FileStatus, _ target: Target, _ branch: OutboxTree.Branch
    ) throws(SystemError) -> Bool {
        let item = items[index]
        let own = try item.staged.descriptor.status()
        guard found.kind == .regular, found.size == own.size,
            let file = try openFile(target.name, in: branch.folder)
        else { return false }
        let before = CopyFingerprint(try file.status())
        guard before == CopyFingerprint(found), file.hasWriter() != true,
            publisher.isIdentical(file, item)
        else { return false }
        // A sync error means that these bytes are not safe: ours go beside them.
        do throws(SystemError) { try file.sync() } catch { return false }
        guard CopyFingerprint(try file.status()) == before,
            let after = try branch.folder.status(of: target.name), CopyFingerprint(after) == before
        else { return false }
        let copy = DeliveredCopy(path: target.path, fingerprint: before)
        states[index] = .named(.adopted(copy), branch)
        return true
    }

    /// `nil` for what cannot be read: it is the user's, whatever it is.
    func openFile(
        _ name: BytePath, in folder: borrowing Folder
    ) throws(SystemError) -> FileDescriptor? {
        do throws(SystemError) {
            return try folder.open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        } catch {
            guard error.isNotFound || [ELOOP, EACCES, EPERM, ENXIO, EAGAIN].contains(error.code)
            else { throw error }
            return nil
        }
    }
}
