import ChuteSystem
import Glibc

/// One group of files on its way into an outbox: each step is done for all of them before the
/// next begins. A group of one is the same code.
///
/// Call `sync`, then `intents`; while that gives any, commit them, `rename` and ask again; then
/// `syncFolders`, commit `outcomes`, and `discardAdopted`.
package final class PublishGroup {
    enum State {
        /// Has no name yet.
        case waiting
        case intended(Target)
        /// Has a name whose folder is not synced yet.
        case named(PublishOutcome, OutboxTree.Branch)
        case done(PublishOutcome)
    }

    /// Where an item is to go.
    struct Target {
        let folder: BytePath
        let name: BytePath
        let replacing: CopyFingerprint?

        var path: BytePath { folder.appending(name) }
    }

    package let items: [PublishItem]
    let publisher: OutboxPublisher
    let now: FileStatus.Nanoseconds
    let writesBigFile: Bool
    var states: [State]
    /// Items whose old copy is left alone after all.
    var standsBeside: Set<Int> = []
    var attempts: [Int]
    /// What the staged files are once they are synced.
    var prints: [Int: CopyFingerprint] = [:]
    /// Folders found in the present step, so that each is looked for once.
    var places: [BytePath: OutboxTree.Place] = [:]

    init(
        _ items: [PublishItem], publisher: OutboxPublisher, now: FileStatus.Nanoseconds,
        writesBigFile: Bool
    ) {
        self.items = items
        self.publisher = publisher
        self.now = now
        self.writesBigFile = writesBigFile
        states = items.map { _ in .waiting }
        attempts = items.map { _ in 0 }
        guard publisher.root.isInPlace() else {
            failAll(PublishFailure(.notMounted))
            return
        }
        for index in items.indices {
            if let failure = prepare(items[index]) { fail(index, failure) }
        }
    }

    /// What became of each item. One that was not carried to its end counts as failed.
    package var outcomes: [PublishOutcome] {
        states.map { state in
            if case .done(let outcome) = state { return outcome }
            return .failed(PublishFailure(.refused))
        }
    }

    /// The folder for `components`, looked for once in each step.
    func place(
        _ components: some Sequence<[UInt8]>, making: Bool
    ) throws(SystemError) -> OutboxTree.Place {
        let key = BytePath(components: components)
        if let known = places[key] { return known }
        let found = try publisher.tree.place(components, making: making)
        places[key] = found
        return found
    }

    func fail(_ index: Int, _ failure: PublishFailure) { states[index] = .done(.failed(failure)) }

    func failAll(_ failure: PublishFailure) {
        for index in items.indices { fail(index, failure) }
    }

    // Mode, owner and time come before the sync, so that it covers them.
    private func prepare(_ item: PublishItem) -> PublishFailure? {
        guard OutboxTree.areNames(item.components) else { return PublishFailure(.nameRefused) }
        do throws(SystemError) {
            let status = try item.staged.descriptor.status()
            // A second link would let the user change two files at once.
            guard try item.staged.isStaged(), status.kind == .regular, status.links == 1 else {
                return PublishFailure(.mustRewrite)
            }
            if item.durability == .synced { return nil }
            let place = try place(item.components.dropLast(), making: false)
            item.staged.setLook(
                inheritingFrom: place.branch.folder, mode: publisher.modes.file,
                modified: item.modified)
            return nil
        } catch {
            return PublishFailure(error)
        }
    }

}
