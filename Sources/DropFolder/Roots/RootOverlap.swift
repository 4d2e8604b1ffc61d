package import ChuteSystem

/// Finds inboxes and outboxes that lie in each other, and folders whose mark says that they are
/// the other end of the same space: files would go round in circles. So would those that are
/// moved from an inbox to an `after_ingest_folder` in one of them; two of those may be one.
///
/// Judged by device and inode of every folder on the way to `/`, so that links, mounts and
/// spellings of a path do not hide anything.
package struct RootOverlap: Sendable {
    /// A folder by device and inode.
    package struct Key: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }
    }

    /// Where a root lies.
    package struct Place: Sendable {
        package var path: BytePath
        package var use: RootMark.Use
        /// The folder itself, then each folder above it up to `/`. Where the folder does not
        /// exist yet, it starts with the first folder above it that does.
        package var chain: [Key]
        /// Whether `chain` starts with the folder itself.
        package var exists: Bool
        /// The marks found in the folder and in those above it.
        package var marks: [RootMark]

        package init(
            path: BytePath, use: RootMark.Use, chain: [Key], exists: Bool = true,
            marks: [RootMark] = []
        ) {
            self.path = path
            self.use = use
            self.chain = chain
            self.exists = exists
            self.marks = marks
        }
    }

    package enum Conflict: Hashable, Sendable {
        /// Two roots are one folder.
        case same(BytePath, BytePath)
        /// The first lies in the second.
        case inside(BytePath, BytePath)
        /// The folder, or one above it, is marked as the other end of this space.
        case markedAs(RootMark.Use.Kind, BytePath)
    }

    /// All conflicts among these roots, of this agent and of others alike.
    package static func conflicts(among places: [Place]) -> [Conflict] {
        var found: [Conflict] = []
        for (index, place) in places.enumerated() {
            for other in places[(index + 1)...] {
                if place.use.kind == .afterIngest, other.use.kind == .afterIngest { continue }
                if let conflict = overlap(place, other) { found.append(conflict) }
            }
            if let kind = otherEnd(place) { found.append(.markedAs(kind, place.path)) }
        }
        return found
    }

    private static func overlap(_ one: Place, _ other: Place) -> Conflict? {
        if one.exists, other.exists, let first = one.chain.first, first == other.chain.first {
            return .same(one.path, other.path)
        }
        if other.exists, let top = other.chain.first, one.chain.contains(top) {
            return .inside(one.path, other.path)
        }
        if one.exists, let top = one.chain.first, other.chain.contains(top) {
            return .inside(other.path, one.path)
        }
        guard !one.exists, !other.exists else { return nil }
        // Neither is there: what they will be, only the paths say.
        if one.path == other.path { return .same(one.path, other.path) }
        if one.path.relative(to: other.path) != nil { return .inside(one.path, other.path) }
        if other.path.relative(to: one.path) != nil { return .inside(other.path, one.path) }
        return nil
    }

    /// What the marks of this space say that clashes with the place's own use. A mark without a
    /// space may be of any space: it counts as this one.
    private static func otherEnd(_ place: Place) -> RootMark.Use.Kind? {
        place.marks.lazy.flatMap(\.uses).first { use in
            // What others move away may be dropped again.
            guard use.kind != place.use.kind, use.kind != .afterIngest else { return false }
            guard let space = use.space, let own = place.use.space else { return true }
            return space == own
        }?.kind
    }
}

extension RootOverlap.Place {
    /// Looks at `path` and every folder above it. Marks that cannot be read are left out.
    package static func at(
        _ path: BytePath, use: RootMark.Use
    ) throws(SystemError) -> RootOverlap.Place {
        var existing = path
        var folder: Folder?
        while folder == nil {
            do throws(SystemError) { folder = try Folder(at: existing) } catch {
                guard error.isNotFound, existing != "/", existing != "." else { throw error }
                existing = existing.parent.isEmpty ? "." : existing.parent
            }
        }
        var place = RootOverlap.Place(path: path, use: use, chain: [], exists: existing == path)
        guard var current = folder.take() else { return place }
        while true {
            let status = try current.status()
            let key = RootOverlap.Key(device: status.device, inode: status.inode)
            if place.chain.last == key { return place }
            place.chain.append(key)
            if let mark = try? FolderRoot.mark(in: current) { place.marks.append(mark) }
            current = try current.parent()
        }
    }
}
