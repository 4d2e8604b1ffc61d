import ChuteSystem
import Glibc

/// Says whether attachments lie whole in kept folders: what another device may rely on when it
/// lets go of its own copy.
///
/// A look at the file is enough where it is as it was published. One that was touched since is
/// not said to be here before `run` has hashed and synced it; whoever needs it asks again.
///
/// ## Concurrency
/// An actor on a queue of its own, which opens files and hashes. Questions wait for one file at
/// most.
actor KeptFiles {
    private struct Place: Hashable {
        let root: Int64
        let path: BytePath
        let attachment: AttachmentID

        init(_ location: Location, _ attachment: AttachmentID) {
            root = location.root
            path = location.path
            self.attachment = attachment
        }
    }

    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private let reader: StoreReader
    private let roots: Roots
    private let diagnostics: Diagnostics
    /// What touched files were when their bytes were found to be right. In memory alone: after a
    /// restart they are hashed once more.
    private var verified: [Place: FileFingerprint] = [:]
    /// What is to be hashed.
    private var touched: Set<Place> = []
    private let wakeups = Mailbox<Void>()
    private static let limit = 4096

    init(reader: StoreReader, roots: Roots, diagnostics: Diagnostics) {
        executor = QueueExecutor(label: "chute.kept")
        self.reader = reader
        self.roots = roots
        self.diagnostics = diagnostics
    }

    /// For each of `attachments` whether it is known to lie whole in a kept folder now. What no
    /// document that counts names is not said to be here, nor to who only sends what none of its
    /// own documents names. Throws where the store fails.
    func areKept(
        _ attachments: [AttachmentID], in scope: PeerView.Scope = .space
    ) async throws -> [Bool] {
        let known = try await reader.read { snapshot in
            let named =
                if case .sender(let sender) = scope {
                    try snapshot.named(attachments, by: sender.device)
                } else {
                    Set(try attachments.filter { try snapshot.isNamed($0) })
                }
            return try attachments.map { named.contains($0) ? try snapshot.locations(of: $0) : [] }
        }
        let open = OpenRoots(roots)
        return zip(attachments, known).map { attachment, locations in
            locations.contains { location in
                roots.isKept(location.root) && isWhole(attachment, at: location, open)
            }
        }
    }

    private func isWhole(
        _ attachment: AttachmentID, at location: Location, _ open: OpenRoots
    ) -> Bool {
        let place = Place(location, attachment)
        do throws(SystemError) {
            guard let file = try self.open(place, open) else { return false }
            let print = FileFingerprint(try file.status())
            if print.encoded == location.fingerprint || print == verified[place] { return true }
            guard print.size == attachment.byteCount, touched.count < Self.limit else {
                return false
            }
            if touched.insert(place).inserted { wakeups.post(()) }
        } catch {
            // Whatever it is that hinders: nobody can rely on the file.
            if !error.isNotFound {
                diagnostics.debug("\(location.path) cannot be vouched for: \(error)")
            }
        }
        return false
    }

    private func open(
        _ place: Place, _ open: OpenRoots
    ) throws(SystemError) -> FileDescriptor? {
        guard
            let file = try open.open(
                place.path, in: place.root, O_RDONLY | O_NONBLOCK | O_NOCTTY),
            try file.status().kind == .regular
        else { return nil }
        return file
    }

    /// Hashes what was touched, one file after the other, until cancelled; any number of times,
    /// once at a time.
    func run() async {
        repeat {
            // At first what an earlier run was stopped before.
            while let place = touched.first, !Task.isCancelled {
                verify(place)
                touched.remove(place)
                await Task.yield()
            }
        } while !(await wakeups.next()).isEmpty
    }

    /// Notes that a touched file has the right bytes, on the disk and not only in memory.
    private func verify(_ place: Place) {
        do {
            guard let file = try open(place, OpenRoots(roots)) else { return }
            let before = FileFingerprint(try file.status())
            let start = FileStatus.now
            let hashed = try AttachmentHasher().hash(
                descriptor: file.raw, expectedLength: before.size)
            guard hashed?.attachment == place.attachment else { return }
            try file.sync()
            try syncFolder(of: place)
            // What was written while it was read, right after its last change, could look the same.
            guard try FileFingerprint(file.status()) == before, !before.isRacy(now: start)
            else { return }
            if verified.count >= Self.limit { verified = [:] }
            verified[place] = before
        } catch {
            diagnostics.debug("\(place.path) cannot be vouched for: \(error)")
        }
    }

    private func syncFolder(of place: Place) throws(SystemError) {
        guard let root = roots.open(place.root) else {
            throw SystemError(code: ENOENT, call: "open", path: place.path)
        }
        try root.folder(at: place.path.parent).sync()
    }
}
