import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// What holds for every mailbox. One that is added has its line in `all`.
struct MailboxTransportContractTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (_ folder: BytePath) -> any MailboxTransport
    }

    static let all = [
        Sample(testDescription: "memory", make: { _ in InMemoryMailbox() }),
        Sample(testDescription: "toy-mailbox", make: { ToyMailbox(folder: $0) }),
    ]

    @Test(arguments: all)
    func `a message is there from its put to its delete`(_ sample: Sample) async throws {
        try await withTemporaryDirectory { folder in
            let mailbox = sample.make(folder)
            #expect(mailbox.name == sample.testDescription)
            #expect(try await mailbox.get("a/1") == nil)
            try await mailbox.put([1], at: "a/1")
            try await mailbox.put([2, 3], at: "a/1")
            #expect(try await mailbox.get("a/1") == [2, 3])
            try await mailbox.delete("a/1")
            try await mailbox.delete("a/1")
            #expect(try await mailbox.get("a/1") == nil)
        }
    }

    @Test(arguments: all)
    func `keys are listed by their beginning, in their order`(_ sample: Sample) async throws {
        try await withTemporaryDirectory { folder in
            let mailbox = sample.make(folder)
            for key in ["b/1", "a/2", "a/10", "é", "a"] { try await mailbox.put([], at: key) }
            #expect(try await mailbox.list(prefix: "a/") == ["a/10", "a/2"])
            #expect(try await mailbox.list(prefix: "") == ["a", "a/10", "a/2", "b/1", "é"])
            #expect(try await mailbox.list(prefix: "c").isEmpty)
            #expect(try await mailbox.get("é") == [])
        }
    }
}
