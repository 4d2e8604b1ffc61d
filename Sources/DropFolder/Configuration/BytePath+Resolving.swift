package import ChuteSystem
import Glibc

extension BytePath {
    private static let above: BytePath = ".."

    /// An absolute path without links, as far as it exists; what is missing at its end is taken as
    /// it is written. Calls `realpath`.
    package var resolved: BytePath {
        if let whole = real { return whole }
        guard self != parent else { return self }
        let folder = parent.resolved
        return lastComponent == Self.above ? folder.parent : folder.appending(lastComponent)
    }

    /// The same, but a link at its very end is not followed: it is the one that is meant.
    package var resolvedButLast: BytePath {
        guard self != parent, lastComponent != Self.above else { return resolved }
        return parent.resolved.appending(lastComponent)
    }

    /// The path without links; `nil` where it does not exist or cannot be looked at.
    package var real: BytePath? {
        guard let resolved = withCString({ realpath($0, nil) }) else { return nil }
        defer { free(resolved) }
        return BytePath(bytes: UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
    }
}
