import ChuteKit
import ExampleTerminal
import Glibc

/// The pictures of a collection: added here, watched live, fetched with a progress bar.
struct Album: Sendable {
    let pics: DocumentCollection
    let received: BytePath

    /// Puts a file of this computer into the album. The file itself is left as it is.
    func add(_ path: String) async {
        do {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            let photo = try await pics.newAttachment(
                path: BytePath(path), metadata: ["filename": name])
            try await pics.insert([
                "image": .attachment(photo), "mimeType": .string(Self.type(of: name)),
                "name": .string(name),
            ])
            say("added \(name), \(photo.len) bytes")
        } catch {
            say("\(path) was not added: \(error)")
        }
    }

    /// Prints what is in the album.
    func list() async {
        do {
            for doc in try await pics.findAll().sort(by: "name").exec() {
                say("\(doc["name"].string ?? doc.id.description)  \(doc.mimeType)")
            }
        } catch {
            say("the album cannot be read: \(error)")
        }
    }

    /// Follows the album until the task is cancelled, and fetches each picture that appears.
    func watch() async {
        await withTaskGroup(of: Void.self) { group in
            do {
                for try await (docs, event) in pics.findAll().snapshots() {
                    switch event {
                    case .initial:
                        say("\(docs.count) pictures")
                        for doc in docs { group.addTask { await fetch(doc) } }
                    case .update(let update):
                        for index in update.insertions {
                            let doc = docs[index]
                            say("new: \(doc["name"].string ?? doc.id.description)")
                            group.addTask { await fetch(doc) }
                        }
                    default: break
                    }
                }
            } catch is CancellationError {
                // The program ends.
            } catch {
                say("the album cannot be watched any more: \(error)")
            }
            group.cancelAll()
        }
    }

    /// Fetches one picture into the folder of received ones. A document without a picture, and
    /// one that is no picture, are left alone.
    private func fetch(_ doc: Document) async {
        guard let token = doc["image"].attachmentToken, doc.mimeType.hasPrefix("image/") else {
            return
        }
        let name = doc["name"].string ?? doc.id.description
        do {
            for try await event in pics.fetch(token) {
                switch event {
                case .progress(let done, let total):
                    guard done > 0, done < total, isatty(STDOUT_FILENO) == 1 else { continue }
                    say("\(name) \(bar(Double(done) / Double(total)))")
                case .stalled: say("\(name): nobody who has it is here")
                case .completed(let attachment): try await keep(attachment, name)
                case .deleted: say("\(name) was removed before it came")
                case .failed(let error): say("\(name) did not come: \(error)")
                default: break
                }
            }
        } catch {
            say("\(name) did not come: \(error)")
        }
    }

    private func keep(_ attachment: Attachment, _ name: String) async throws {
        mkdir(received.description, 0o755)
        // A name from somebody else is never a path.
        let safe = name.split(separator: "/").last.map(String.init) ?? "picture"
        do {
            try await attachment.copy(to: received.appending(BytePath(safe)))
            say("received \(safe), \(attachment.len) bytes")
        } catch let error as ChuteError where error.code == .alreadyExists {
            say("\(safe) is there already")
        }
    }

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last?.lowercased() {
        case "png": "image/png"
        case "gif": "image/gif"
        case "heic": "image/heic"
        case "webp": "image/webp"
        default: "image/jpeg"
        }
    }
}
