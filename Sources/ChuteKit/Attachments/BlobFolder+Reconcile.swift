import ChuteSystem
import Glibc

/// Making good what a crash left halfway, at the start.
extension BlobFolder {
    /// Rows without a file go; files without a row that a document names or a pin keeps are hashed
    /// and recorded; others are left to garbage collection. Staged files of imports go, those of fetches stay.
    func reconcile() async throws {
        let root = root
        let names: Set<BytePath>
        do throws(SystemError) {
            for entry in try folder.folder(at: Self.staging).entries()
            where entry.name.bytes.starts(with: Array("in-".utf8)) {
                try folder.remove(Self.staging.appending(entry.name))
            }
            names = Set(try folder.entries().map(\.name))
        } catch { throw ChuteError(error, "\(path) cannot be used") }
        let (known, hasWants) = try await reader.read { snapshot in
            (try snapshot.blobs(inRoot: root), try !snapshot.wants(inRoot: root).isEmpty)
        }
        let missing = known.filter { !names.contains($0.location.path) }
        if !missing.isEmpty || hasWants {
            try await store.write { transaction in
                for blob in missing { try transaction.forget(blob) }
                // Who wanted them is gone; what was fetched of them stays for the next one.
                try transaction.unwant(inRoot: root)
            }
        }
        if !missing.isEmpty {
            diagnostics.warning("\(missing.count) attachments are not in \(path) any more")
        }
        for attachment in strays(names.subtracting(known.map(\.location.path))) {
            guard try await reader.read({ try $0.isKept(attachment) }) else { continue }
            try await takeStray(attachment)
        }
    }

    /// The attachments that files are named after.
    func strays(_ names: some Sequence<BytePath>) -> [AttachmentID] {
        names.compactMap { $0.string.flatMap(AttachmentID.init(blobName:)) }
    }

    /// Records a blob that has no row, if it is what its name says, else sets it aside.
    func takeStray(_ attachment: AttachmentID) async throws {
        let root = root
        let name = BytePath(attachment.blobName)
        try await exclusively(attachment) {
            let known = try await reader.read { try $0.blob(of: attachment, inRoot: root) }
            guard known == nil else { return }
            switch try hash(name) {
            case .missing: return
            case .hashed(let hashed, let summary, let fingerprint) where hashed == attachment:
                // The crash may have come before the sync of its name.
                try sync()
                try await store.write { transaction in
                    try transaction.addLocation(
                        Location(
                            root: root, path: name, fingerprint: fingerprint, isOwned: true),
                        of: attachment, layer: summary.layer)
                    let key = RelayRecord.key(attachment)
                    guard try transaction.row(RelayRecord.self, key) == nil else { return }
                    try transaction.acknowledge(attachment)
                }
            case .hashed, .unreadable: try setAside(name)
            }
        }
    }

    private func sync() throws {
        do throws(SystemError) { try folder.sync() } catch {
            throw ChuteError(error, "\(path) cannot be written")
        }
    }
}

extension AttachmentID {
    /// The attachment whose blob has this name; `nil` where it is no name of a blob.
    init?(blobName name: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Hexadecimal.bytes(String(parts[0])),
            let digest = Digest(bytes: bytes), let count = UInt64(parts[1]),
            let id = AttachmentID(digest: digest, byteCount: count), id.blobName == name
        else { return nil }
        self = id
    }
}
