import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// For tests that make hosts of their own.
    static var namespaces: Self {
        .enabled(if: NetworkNamespaces.areAvailable, "needs root and network namespaces")
    }
    /// For tests that become another user.
    static var root: Self { .enabled(if: TestUser.isRoot, "needs root") }
}
