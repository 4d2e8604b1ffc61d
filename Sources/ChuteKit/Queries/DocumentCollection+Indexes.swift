/// The declared indexes of a collection. What queries find does not depend on them, only how fast.
extension DocumentCollection {
    /// Declares an index on a field; nothing happens where there is one.
    ///
    /// Durable when it returns. Documents that are there already are taken in afterwards, in
    /// small steps between which others write, and further after a restart; new ones are in it at
    /// once. Throws `invalid` for a path that no document has, and for more than 32 indexes.
    public func declareIndex(on path: FieldPath) async throws {
        try checkName()
        guard (1...FieldPath.limit).contains(path.names.count),
            !path.names.contains(where: \.isEmpty)
        else {
            throw ChuteError(
                .invalid, "an index is on 1 to \(FieldPath.limit) names, of which none is empty")
        }
        let name = name
        try await store.write { try $0.declareIndex(on: path, in: name) }
        await store.writer.startIndexing()
    }

    /// Drops the index on a field; `false` where there is none. Durable when it returns; the
    /// space that it took is given back afterwards, in small steps.
    @discardableResult
    public func dropIndex(on path: FieldPath) async throws -> Bool {
        try checkName()
        let name = name
        let isDropped = try await store.write { try $0.dropIndex(on: path, in: name) }
        await store.writer.startIndexing()
        return isDropped
    }

    /// The declared indexes.
    public func indexes() async throws -> [DeclaredIndex] {
        let name = name
        return try await store.read { try $0.indexes(of: name) }
    }
}
