import ChuteKit

/// What a program outside of the package can do with an engine: two documents, one with an
/// attachment that lies in a folder of its own, read back from what is committed.
@main
struct Outsider {
    static func main() async throws {
        let path = BytePath(CommandLine.arguments[1])
        let engine = try await Chute.open(
            path, network: Chute.Network(listen: nil, isPortFixed: false, connect: []))
        guard let name = Digest(bytes: [UInt8](repeating: 7, count: Digest.byteCount)),
            let attachment = AttachmentID(digest: name, byteCount: 5)
        else { throw ChuteError(.notFound, "32 bytes are a digest") }

        let document = try await engine.store.write { transaction in
            let root = try transaction.registerRoot(mark: [1], path: path, role: "inbox")
            let location = Location(
                root: root, path: BytePath("photo.jpg"), fingerprint: [2], isOwned: false)
            try transaction.addLocation(location, of: attachment)
            return try transaction.put(
                seed: name, in: "pics",
                fields: ["token": .attachment(AttachmentToken(id: attachment))])
        }
        let (found, locations) = try await engine.store.read { snapshot in
            let found = try snapshot.document(document.id, in: "pics")
            return (found, try snapshot.locations(of: attachment))
        }
        guard found?["token"]?.attachmentToken?.id == attachment, locations.count == 1 else {
            throw ChuteError(.notFound, "what was written is not read")
        }
    }
}
