package import ChuteSystem

/// What `chute list` says: the documents that this device knows, and what it skipped.
package struct DocumentList: Hashable, Sendable {
    package var documents: [Document] = []
    package var skipped: [StatusReport.Skipped] = []

    package init(documents: [Document] = [], skipped: [StatusReport.Skipped] = []) {
        self.documents = documents
        self.skipped = skipped
    }

    package struct Document: Hashable, Sendable {
        package var id: String
        package var collection: String
        package var name: BytePath
        /// The media type.
        package var type: String
        /// In bytes.
        package var size: UInt64
        /// The name of the device that shared it.
        package var origin: String
        /// `shared`, `delivered`, `fetching`, `waiting`, `refused (too-large)`, ...
        package var state: String
        package var receipts: [Receipt]

        package init(
            id: String, collection: String, name: BytePath, type: String, size: UInt64,
            origin: String, state: String, receipts: [Receipt] = []
        ) {
            self.id = id
            self.collection = collection
            self.name = name
            self.type = type
            self.size = size
            self.origin = origin
            self.state = state
            self.receipts = receipts
        }
    }

    package struct Receipt: Hashable, Sendable {
        /// The name of the device that signed it.
        package var peer: String
        /// `delivered`, `refused (too-large)`, `not wanted`.
        package var state: String

        package init(peer: String, state: String) {
            self.peer = peer
            self.state = state
        }
    }

    /// Schema 1.
    package var json: JSONValue {
        .object([
            "schema": .integer(1),
            "documents": .array(documents.map(\.json)),
            "skipped": .array(skipped.map(\.json)),
        ])
    }
}

extension DocumentList.Document {
    var json: JSONValue {
        .object([
            "id": .string(id), "collection": .string(collection), "name": .string(name.shown),
            "nameBytes": name.exactBytes, "type": .string(type), "size": .count(size),
            "origin": .string(origin), "state": .string(state),
            "receipts": .array(
                receipts.map {
                    .object(["peer": .string($0.peer), "state": .string($0.state)])
                }),
        ])
    }
}
