import ChuteKit
import ExampleTerminal
import Glibc

/// Two collections: users, each with a name and perhaps an avatar, and messages.
struct Chat: Sendable {
    let me: String
    let users: DocumentCollection
    let messages: DocumentCollection
    let received: BytePath
    private let pictures = VipsTransform()

    init(
        me: String, users: DocumentCollection, messages: DocumentCollection, received: BytePath
    ) {
        (self.me, self.users, self.messages, self.received) = (me, users, messages, received)
    }

    /// Says who this is. The document of a user has the device as its id, so that it is one.
    func introduce(_ name: String) async throws {
        try await users.upsert(["_id": .string(me), "name": .string(name)])
    }

    /// Sets, or replaces, the avatar of this user.
    func setAvatar(_ path: String) async {
        await trying("the avatar was not set") {
            let avatar = try await users.newAttachment(path: BytePath(path))
            try await users.findByID(me).update { doc in doc["avatarToken"].set(avatar) }
            say("avatar set, \(avatar.len) bytes")
        }
    }

    func send(text: String) async {
        await trying("the message was not sent") {
            try await messages.insert(["from": .string(me), "text": .string(text)])
        }
    }

    /// Sends a picture: a thumbnail with the message itself, the untouched original by a second
    /// write, which may take its time.
    func send(picture path: String) async {
        await trying("the picture was not sent") {
            let original = BytePath(path)
            let thumbnail = try await withTemporaryFile(named: "thumbnail.jpg") { temporary in
                try await pictures.thumbnail(of: original, at: temporary.file, longestEdge: 160)
                return try await messages.newAttachment(path: temporary.file, mode: .copy)
            }
            let id = try await messages.insert([
                "from": .string(me), "text": "sent a picture",
                "thumbnailToken": .attachment(thumbnail),
            ])
            let picture = try await messages.newAttachment(path: original, mode: .copy)
            try await messages.findByID(id).update { doc in doc["largeToken"].set(picture) }
            say("sent \(thumbnail.len) bytes first, then \(picture.len)")
        }
    }

    /// Prints who is there, and fetches avatars as they are set.
    func watchUsers() async {
        await withTaskGroup(of: Void.self) { group in
            await trying("users cannot be watched any more") {
                for try await (docs, event) in users.findAll().snapshots() {
                    for doc in changed(docs, event) where doc.id.description != me {
                        say("\(doc["name"].string ?? doc.id.description) is here")
                        let avatar = doc["avatarToken"].attachmentToken
                        group.addTask { await fetch(avatar, "avatar-\(doc.id)", users) }
                    }
                }
            }
            group.cancelAll()
        }
    }

    /// Prints messages as they come, and fetches the thumbnail of each before its picture.
    func watchMessages() async {
        var printed: Set<DocumentID> = []
        await withTaskGroup(of: Void.self) { group in
            await trying("messages cannot be watched any more") {
                for try await (docs, event) in messages.findAll().snapshots() {
                    for doc in changed(docs, event) where doc["from"].string != me {
                        if printed.insert(doc.id).inserted {
                            say("\(try await name(of: doc)): \(doc["text"].string ?? "")")
                        }
                        group.addTask { await fetchPictures(of: doc) }
                    }
                }
            }
            group.cancelAll()
        }
    }

    private func fetchPictures(of doc: Document) async {
        let id = doc.id.description
        await fetch(doc["thumbnailToken"].attachmentToken, "thumbnail-\(id)", messages)
        await fetch(doc["largeToken"].attachmentToken, "picture-\(id)", messages)
    }

    /// What is new or different since the last time.
    private func changed(_ docs: Documents, _ event: LiveQueryEvent) -> [Document] {
        switch event {
        case .initial: Array(docs)
        case .update(let update): (update.insertions + update.updates).sorted().map { docs[$0] }
        default: []
        }
    }

    private func name(of message: Document) async throws -> String {
        guard let id = message["from"].string else { return "somebody" }
        return try await users.findByID(id).exec()?["name"].string ?? id
    }

    /// Fetches what a token names, unless it is here already.
    private func fetch(
        _ token: AttachmentToken?, _ name: String, _ collection: DocumentCollection
    ) async {
        guard let token else { return }
        await trying("\(name) did not come") {
            let attachment = try await collection.attachment(for: token)
            mkdir(received.description, 0o755)
            let file = received.appending(BytePath("\(name)-\(token.id.digest)"))
            do {
                try await attachment.copy(to: file)
                say("received \(file), \(attachment.len) bytes")
            } catch let error as ChuteError where error.code == .alreadyExists {
                // It came with an earlier change of the same document.
            }
        }
    }

    /// Says what failed, and goes on.
    private func trying(_ failure: String, _ body: () async throws -> Void) async {
        do { try await body() } catch is CancellationError {
            // The program ends.
        } catch { say("\(failure): \(error)") }
    }
}
