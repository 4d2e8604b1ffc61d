package import ChuteSystem

/// Judges a path of an inbox by its bytes alone.
package struct InboxFilter: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        case share
        /// Listed in `status`, not shared.
        case skip(SkipReason)
        /// Our own: never listed at all.
        case invisible
    }

    /// Deeper paths are refused.
    package static let maximumDepth = 64
    /// The folder of our own in every root.
    package static let ownFolder: BytePath = ".chute"

    private let ignore: IgnorePatterns

    package init(ignore: IgnorePatterns = IgnorePatterns()) { self.ignore = ignore }

    /// `path` is relative to the inbox.
    package func verdict(_ path: BytePath, isFolder: Bool) -> Verdict {
        let components = path.bytes.split(separator: BytePath.separator)
        if components.contains(where: { $0.elementsEqual(Self.ownFolder.bytes) }) {
            return .invisible
        }
        if components.contains(where: { $0.first == UInt8(ascii: ".") }) { return .skip(.hidden) }
        if ignore.matches(path, isFolder: isFolder) { return .skip(.ignored) }
        if components.count > Self.maximumDepth { return .skip(.nameRefused) }
        return .share
    }
}
