import ChuteSystem
import Glibc

/// Looks whether attachments lie whole in kept folders: what another device may rely on when it
/// lets go of its own copy.
///
/// ## Concurrency
/// An actor on a queue of its own, which hashes: a large file that was touched takes long, and no
/// session waits for it but the one that asked.
actor KeptFiles {
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private let store: Store
    private let reader: StoreReader
    private let roots: Roots
    private let hasher = AttachmentHasher()

    init(store: Store, reader: StoreReader, roots: Roots) {
        executor = QueueExecutor(label: "chute.kept")
        self.store = store
        self.reader = reader
        self.roots = roots
    }

    /// For each of `attachments` whether it lies whole in a kept folder now. What no document
    /// that counts names is not said to be here. Throws where the store fails.
    func areKept(_ attachments: [AttachmentID]) async throws -> [Bool] {
        let known = try await reader.read { snapshot in
            try attachments.map { try snapshot.isNamed($0) ? snapshot.locations(of: $0) : [] }
        }
        let open = OpenRoots(roots)
        var kept: [Bool] = []
        for (attachment, locations) in zip(attachments, known) {
            var isKept = false
            for location in locations where !isKept && roots.isKept(location.root) {
                isKept = try await isWhole(attachment, at: location, open)
            }
            kept.append(isKept)
        }
        return kept
    }

    /// Compares the file with its fingerprint, and its bytes where that is another by now.
    private func isWhole(
        _ attachment: AttachmentID, at location: Location, _ open: OpenRoots
    ) async throws -> Bool {
        let print: FileFingerprint
        do {
            guard
                let file = try open.open(
                    location.path, in: location.root, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            else { return false }
            let status = try file.status()
            guard status.kind == .regular, status.size == attachment.byteCount else {
                return false
            }
            print = FileFingerprint(status)
            if print.encoded == location.fingerprint { return true }
            let hashed = try hasher.hash(descriptor: file.raw, expectedLength: status.size)
            guard hashed?.attachment == attachment, FileFingerprint(try file.status()) == print
            else { return false }
        } catch is SystemError {
            return false  // whatever it is that hinders: nobody can rely on the file
        }
        // The next time it need not be read again.
        let fresh = Location(
            root: location.root, path: location.path, fingerprint: print.encoded,
            isOwned: location.isOwned)
        try await store.write(durable: .withNext) { transaction in
            guard try transaction.locations(of: attachment).contains(location) else { return }
            try transaction.addLocation(fresh, of: attachment)
        }
        return true
    }
}
