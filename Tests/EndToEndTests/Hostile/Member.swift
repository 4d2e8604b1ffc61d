import ChuteKit
import ChuteSystem
import DropFolder
import Glibc
import TestSupport

/// A member of a space that writes documents as it likes, beside an agent.
struct Member: Sendable {
    let engine: TestEngine
    private static let collection = "pics"

    /// Calls `body` with the set up home of an agent, which does not run yet, and a running
    /// engine that it dials; both hold one key.
    static func with<Result>(
        name: String, _ body: (AgentHome, Member) async throws -> Result
    ) async throws -> Result {
        try await withAgentFolder { folder in
            let bytes = SecretBytes.random(count: SharedKey.byteCount)
            guard let key = SharedKey(bytes: bytes) else { throw NeverHappened(what: "a key") }
            let file = folder.appending("space.key")
            try SampleFiles.write(bytes, to: file)
            _ = file.withCString { chmod($0, 0o600) }
            try TestUser.agent.own(file)
            let home = try AgentHome("pi", in: folder)
            let engine = try await TestEngine(
                folder.appending("member"), identity: .sharedKey(key))
            do {
                try await engine.chute.store.write {
                    try $0.publish(
                        DeviceProfile(name: name, addresses: [], collections: [collection]))
                }
                try await home.setUp(
                    "--listen", FreePort.pair().0.address,
                    "--connect", BytePath(try await engine.address()), "--shared-key", file)
                let result = try await body(home, Member(engine: engine))
                await engine.stop()
                return result
            } catch {
                await engine.stop()
                throw error
            }
        }
    }

    /// Puts bytes on the member's disk; what they are called.
    func make(_ bytes: [UInt8], as file: BytePath) throws -> AttachmentID {
        let path = engine.files.appending(file)
        try SampleFiles.write(bytes, to: path)
        let opened = try FileDescriptor.open(path, FileDescriptor.readOnly)
        let hashed = try AttachmentHasher().hash(
            descriptor: opened.raw, expectedLength: UInt64(bytes.count))
        guard let hashed else { throw NeverHappened(what: "a hash of \(file)") }
        return hashed.attachment
    }

    /// Claims that a file on the member's disk is `attachment`, and shares it under `path`.
    @discardableResult
    func claim(
        _ attachment: AttachmentID, file: BytePath, path: [[UInt8]], type: String = "image/jpeg"
    ) async throws -> DocumentID {
        let status = try FileStatus.of(engine.files.appending(file))
        let location = Location(
            root: engine.root, path: file, fingerprint: FileFingerprint(status).encoded,
            isOwned: true)
        let document = FileDocument(
            token: AttachmentToken(id: attachment), path: path, modified: 0, mode: 0o777,
            type: type)
        return try await engine.chute.store.write { transaction in
            try transaction.addLocation(location, of: attachment, layer: [])
            return try transaction.put(
                seed: .seed([.bytes(file.bytes)]), in: Self.collection, fields: document.fields
            ).id
        }
    }

    /// Shares bytes of up to a piece under `path`, as they are.
    @discardableResult
    func share(_ bytes: [UInt8], file: BytePath, path: [[UInt8]]) async throws -> DocumentID {
        try await claim(make(bytes, as: file), file: file, path: path)
    }

    /// What the others said about a document of this member, at most one other.
    func answer(to id: DocumentID) async throws -> Receipt.State? {
        try await engine.chute.store.read { snapshot in
            guard let document = try snapshot.document(id, in: Self.collection) else { return nil }
            return try snapshot.receipts(for: document).values.first?.state
        }
    }
}
