import ChuteSystem
import Glibc

extension PublishGroup {
    /// Step 3: gives every item with a committed intent its name, making the folders on the way.
    ///
    /// An item whose name was taken since waits again: ask for `intents` once more.
    package func rename() {
        places.removeAll()
        for index in items.indices {
            guard case .intended(let target) = states[index] else { continue }
            states[index] = .waiting
            do throws(SystemError) {
                if let replacing = target.replacing {
                    try exchange(index, target, replacing)
                } else {
                    try giveName(index, target)
                }
            } catch {
                settle(index, error)
            }
        }
    }

    // What stands in the way since the intent was made is looked at anew in the next round.
    private func settle(_ index: Int, _ error: SystemError) {
        switch error.code {
        case EEXIST, ELOOP, ENOTDIR: break
        case ENOENT:
            places.removeAll()
            let isStaged = try? items[index].staged.isStaged()
            if isStaged == false { fail(index, PublishFailure(.mustRewrite, error)) }
        default: fail(index, PublishFailure(error))
        }
    }

    private func giveName(_ index: Int, _ target: Target) throws(SystemError) {
        let file = items[index].staged
        let place = try place(target.folder.components, making: true)
        // Another folder than the intent says: the next intent names it.
        guard place.path == target.folder else { return }
        guard try file.isStaged() else { return fail(index, PublishFailure(.mustRewrite)) }
        try file.staging.folder.renameExclusively(
            file.name, to: target.name, in: place.branch.folder)
        try record(index, target, place.branch, replaced: nil)
    }

    private func exchange(
        _ index: Int, _ target: Target, _ replacing: CopyFingerprint
    ) throws(SystemError) {
        let file = items[index].staged
        guard let branch = try publisher.tree.branch(at: target.folder) else {
            standsBeside.insert(index)
            return
        }
        guard try file.isStaged() else { return fail(index, PublishFailure(.mustRewrite)) }
        do throws(SystemError) {
            try file.staging.folder.exchange(file.name, with: target.name, in: branch.folder)
        } catch {
            // No exchange on this file system, or the old copy went away.
            guard [EINVAL, ENOSYS, ENOENT, EOPNOTSUPP].contains(error.code) else { throw error }
            standsBeside.insert(index)
            return
        }
        let exchange = Exchange(
            publisher: publisher, staging: file.staging, stagedName: file.name,
            identity: file.identity, branch: branch, target: target.name, now: now)
        switch try exchange.settle(delivered: replacing) {
        case .kept(let replaced): try record(index, target, branch, replaced: replaced)
        case .putBack: standsBeside.insert(index)
        case .lost: fail(index, PublishFailure(.mustRewrite))
        }
    }

    private func record(
        _ index: Int, _ target: Target, _ branch: OutboxTree.Branch, replaced: DeliveredCopy?
    ) throws(SystemError) {
        let file = items[index].staged
        // The change time is that after the rename, whether it still has its name or not.
        let fingerprint = CopyFingerprint(try file.descriptor.status())
        let found = try branch.folder.status(of: target.name)
        let copy = PublishedCopy(
            copy: DeliveredCopy(path: target.path, fingerprint: fingerprint),
            isGone: found.map(InodeIdentity.init) != file.identity, replaced: replaced)
        states[index] = .named(.published(copy), branch)
    }
}
