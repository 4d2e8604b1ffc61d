import ChuteSystem
import Glibc
import TestSupport

@testable import ChuteKit

extension TestEngine {
    static let collection = "pictures"

    func write(_ bytes: [UInt8], to name: BytePath) throws {
        let file = try Folder(at: files).open(
            name, FileDescriptor.readWriteCreate, mode: 0o600)
        try file.truncate(to: 0)
        try file.write(bytes, at: 0)
    }

    func read(_ name: BytePath) throws -> [UInt8] {
        let file = try Folder(at: files).open(name, FileDescriptor.readOnly)
        return try file.read(count: Int(file.status().size) + 1, at: 0)
    }

    /// Hashes a file and says in the store that it is there.
    @discardableResult
    func hold(_ name: BytePath, isOwned: Bool = false) async throws -> AttachmentID {
        let file = try Folder(at: files).open(name, FileDescriptor.readOnly)
        let status = try file.status()
        guard
            let summary = try PieceTree.FileHasher().summary(
                of: file, expectedLength: status.size),
            let digest = Digest(bytes: summary.id),
            let id = AttachmentID(digest: digest, byteCount: summary.byteCount)
        else { throw NeverHappened(what: "a hash of \(name)") }
        let location = Location(
            root: root, path: name, fingerprint: FileFingerprint(status).encoded, isOwned: isOwned)
        try await chute.store.write {
            try $0.addLocation(location, of: id, layer: summary.layer)
        }
        return id
    }

    /// Makes a file, and a document that names it.
    @discardableResult
    func share(_ bytes: [UInt8], as name: BytePath) async throws -> OwnedDocument {
        try write(bytes, to: name)
        let id = try await hold(name)
        return try await announce(id, as: name)
    }

    @discardableResult
    func announce(_ id: AttachmentID, as name: BytePath) async throws -> OwnedDocument {
        try await chute.store.write {
            try $0.put(
                seed: Digest(hashing: name.bytes), in: Self.collection,
                fields: [
                    "path": .bytes(name.bytes), "token": .attachment(AttachmentToken(id: id)),
                ])
        }
    }

    func documents() async throws -> [OwnedDocument] {
        try await chute.store.read {
            try $0.documents(in: Self.collection, learnedAfter: 0, limit: .max)
        }
    }

    func document(_ id: DocumentID) async throws -> OwnedDocument? {
        try await chute.store.read { try $0.document(id, in: Self.collection) }
    }

    /// Waits for a version of a document to come.
    func awaitDocument(_ document: OwnedDocument) async throws {
        try await eventually("\(document.id) at \(home)") {
            try await self.document(document.id)?.versionID == document.versionID
        }
    }

    @discardableResult
    func want(
        _ id: AttachmentID, to name: BytePath, from source: DeviceID? = nil,
        part: Want.Part = .whole
    ) async throws -> Want {
        let root = root
        return try await chute.store.write {
            try $0.want(id, root: root, path: name, from: source, part: part)
        }
    }

    /// Waits until so many wants ended in `result`, and takes them back.
    @discardableResult
    func awaitFetched(
        _ count: Int, as result: FetchOutcome.Result = .completed,
        within limit: Duration = .seconds(30)
    ) async throws -> [FetchOutcome] {
        let chute = chute
        return try await withTimeout(limit) {
            var outcomes: [FetchOutcome] = []
            while outcomes.count < count {
                let new = await chute.fetched()
                if new.isEmpty { throw NeverHappened(what: "fetching") }
                outcomes += new.filter { $0.result == result }
            }
            let ids = outcomes.map(\.want.id)
            try await chute.store.write { for id in ids { try $0.unwant(id) } }
            return outcomes
        }
    }

    func members() async throws -> [Member] { try await chute.store.read { try $0.members() } }

    func isConnected(to other: TestEngine) async throws -> Bool {
        try await members().contains {
            $0.id == other.chute.device && $0.presence?.isConnected == true
        }
    }

    /// Waits for a connection to `other` that both ends know of.
    func awaitConnection(to other: TestEngine) async throws {
        try await eventually("\(home) and \(other.home) connected") {
            guard try await isConnected(to: other) else { return false }
            return try await other.isConnected(to: self)
        }
    }

    /// Takes `joiner` into this engine's space.
    func invite(_ joiner: TestEngine, role: Role = .member) async throws {
        let address = try await address()
        let ticket = try await chute.store.write {
            try $0.makeTicket(role: role, uses: 1, lifetimeSeconds: 600, addresses: [address])
        }
        _ = try await joiner.address()
        try await joiner.chute.join(ticket)
    }
}

extension SharedKey {
    static func test(_ byte: UInt8 = 7) -> SharedKey {
        guard let key = SharedKey(bytes: testBytes(byte)) else {
            preconditionFailure("32 bytes")
        }
        return key
    }

    static func testBytes(_ byte: UInt8 = 7) -> [UInt8] { Array(repeating: byte, count: byteCount) }
}
