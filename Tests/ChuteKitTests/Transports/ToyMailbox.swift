import ChuteSystem
import Glibc

@testable import ChuteKit

/// Messages as files of one folder, named by their keys in hexadecimal: what an application would
/// write to add a mailbox.
struct ToyMailbox: MailboxTransport {
    let name = "toy-mailbox"
    let folder: BytePath

    private func fileName(_ key: String) -> BytePath {
        BytePath(Hexadecimal.text(Array(key.utf8)))
    }

    func put(_ message: [UInt8], at key: String) throws {
        let place = try Folder(at: folder)
        let hidden = BytePath("." + String(UInt64.random(in: .min ... .max)))
        let file = try place.open(hidden, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        try file.write(message, at: 0)
        try place.rename(hidden, to: fileName(key))
    }

    func list(prefix: String) throws -> [String] {
        try Folder(at: folder).entries().compactMap { entry in
            Hexadecimal.bytes(entry.name.description).map { String(decoding: $0, as: UTF8.self) }
        }.filter { $0.hasPrefix(prefix) }.sorted()
    }

    func get(_ key: String) throws -> [UInt8]? {
        do throws(SystemError) {
            let file = try Folder(at: folder).open(fileName(key), FileDescriptor.readOnly)
            return try file.read(count: Int(file.status().size), at: 0)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    func delete(_ key: String) throws { _ = try Folder(at: folder).remove(fileName(key)) }
}
