import CLinux

/// How many descriptors this process may have open.
package enum DescriptorLimit {
    /// Raises the soft limit to the hard one: login shells give 1024 of half a million.
    ///
    /// Where that is refused the old one stays, with which everything works more slowly. Calls
    /// `setrlimit(RLIMIT_NOFILE)`.
    package static func raise() { _ = chute_descriptor_limit(1) }

    /// The soft limit now; 1024 where it is not told. Calls `getrlimit(RLIMIT_NOFILE)`.
    package static var current: Int {
        let limit = chute_descriptor_limit(0)
        return limit < 0 ? 1024 : Int(limit)
    }
}
