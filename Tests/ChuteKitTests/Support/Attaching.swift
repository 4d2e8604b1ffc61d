import ChuteSystem
import TestSupport

@testable import ChuteKit

extension TestEngine {
    var pictures: DocumentCollection { chute.store[Self.collection] }

    /// The engine's own folder of attachments.
    var blobs: BytePath { home.appending("blobs") }

    /// The names of the attachments in it.
    func blobNames(in inner: BytePath = ".") throws -> Set<BytePath> {
        let names = try Folder(at: blobs.appending(inner)).entries().map(\.name)
        return Set(names.filter { !["staging", "damaged", ".chute"].contains($0) })
    }

    /// Makes a document that names an attachment.
    @discardableResult
    func name(_ token: AttachmentToken, as name: String = "picture") async throws -> OwnedDocument {
        try await chute.store.write {
            try $0.put(
                seed: Digest(hashing: Array(name.utf8)), in: Self.collection,
                fields: ["token": .attachment(token)])
        }
    }

    func unname(_ document: OwnedDocument) async throws {
        try await chute.store.write { try $0.retract(document.id, in: Self.collection) }
    }
}

/// One engine that is alone and shares nothing.
func withEngine(
    in parent: BytePath = "/tmp",
    _ body: (_ engine: TestEngine, _ folder: BytePath) async throws -> Void
) async throws {
    try await withTemporaryDirectory(in: parent) { folder in
        let engine = try await TestEngine(folder.appending("home"), isRunning: false)
        do { try await body(engine, folder) } catch {
            for line in engine.said { print(line) }
            await engine.stop()
            throw error
        }
        await engine.stop()
    }
}

/// The code that `body` throws; `nil` where it throws none.
func code(of body: () async throws -> some Any) async throws -> ChuteError.Code? {
    do {
        _ = try await body()
        return nil
    } catch let error as ChuteError { return error.code }
}

/// All events of a fetch.
func allEvents(of fetch: AttachmentFetch) async throws -> [FetchEvent] {
    var events: [FetchEvent] = []
    for try await event in fetch { events.append(event) }
    return events
}
