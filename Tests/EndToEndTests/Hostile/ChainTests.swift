import ChuteSystem
import TestSupport
import Testing

/// Three devices of which the outer two learn of each other through the one between, and may then
/// connect directly.
@Suite(.timeLimit(.minutes(3)))
struct ChainTests {
    @Test func `what is dropped at one end comes out at the other, and is known to have`()
        async throws
    {
        try await Chain.with { try await $0.expectDelivery() }
    }

    @Test func `who is removed is out at once and stays out`() async throws {
        try await Chain.with { try await $0.expectRemoval() }
    }
}

/// The same where the outer two never reach each other: all goes through the one between.
@Suite(.namespaces, .timeLimit(.minutes(3)))
struct ApartChainTests {
    @Test func `what is dropped at one end comes out at the other, which it cannot reach`()
        async throws
    {
        try await NetworkNamespaces.withChain { hosts in
            try await Chain.with(hosts) { chain in
                try await chain.expectDelivery()
                try await chain.expectApart()
            }
        }
    }

    @Test func `who is removed stays out, also through the one between`() async throws {
        try await NetworkNamespaces.withChain { hosts in
            try await Chain.with(hosts) { chain in
                try await chain.expectRemoval()
                try await chain.expectApart()
            }
        }
    }
}
