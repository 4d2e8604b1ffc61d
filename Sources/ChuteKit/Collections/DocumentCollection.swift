/// Documents under one name, which any member of the space may write.
///
/// Made by its first use. A value: any number of them may stand for one collection.
public struct DocumentCollection: Sendable {
    let store: Store
    /// The name: 1 to 255 bytes, not beginning with `_`, which is the engine's own.
    public let name: String

    init(store: Store, name: String) {
        self.store = store
        self.name = name
    }

    /// Throws `invalid` for a name that no application may use. Each operation begins with it.
    func checkName() throws {
        guard (1...255).contains(name.utf8.count), name.utf8.first != UInt8(ascii: "_") else {
            throw Self.invalidName(name)
        }
    }

    static func invalidName(_ name: String) -> ChuteError {
        ChuteError(
            .invalid,
            "\"\(name)\" is no name of a collection: 1 to 255 bytes, not beginning with an "
                + "underscore, which is reserved")
    }
}

extension Store {
    /// A collection by its name. Any string is taken here; the first use of a name that is
    /// reserved, empty or too long throws.
    public subscript(name: String) -> DocumentCollection {
        DocumentCollection(store: self, name: name)
    }
}
