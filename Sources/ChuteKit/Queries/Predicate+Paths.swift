extension Predicate {
    /// Whether writing the value at `path` can change whether a document meets this.
    func depends(on path: FieldPath) -> Bool {
        switch node {
        case .compare(let own, _, _), .hasPrefix(let own, _, _), .isIn(let own, _),
            .exists(let own):
            zip(own.key, path.key).allSatisfy { $0 == $1 }
        case .compareID, .idIsIn: false
        case .and(let parts), .or(let parts): parts.contains { $0.depends(on: path) }
        case .not(let part): part.depends(on: path)
        case .tooDeep: true
        }
    }
}
