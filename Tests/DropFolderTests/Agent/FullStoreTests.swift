import ChuteSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

/// A disk under the store that others have filled.
@Suite(.timeLimit(.minutes(1)), .enabled(if: canMount, "needs to mount"))
struct FullStoreTests {
    @Test func `a store on a full disk waits for space and ends nothing`() async throws {
        try await withTmpfs("size=4m,mode=700") { folder in
            let said = Mutex<[String]>([])
            let store = try StoreWriter(
                path: folder.appending("chute.db"), key: try DeviceKey.generate(),
                sharedKey: nil,
                diagnostics: Diagnostics { _, message in said.withLock { $0.append(message) } })
            _ = try await store.write {
                try $0.put(seed: Digest(hashing: [0]), in: "c", fields: ["n": .integer(0)])
            }
            let filler = try FileDescriptor.open(
                folder.appending("filler"), FileDescriptor.readWriteCreate)
            #expect(throws: SystemError.self) {
                let block = [UInt8](repeating: 1, count: 4096)
                var offset: UInt64 = 0
                while true {
                    try filler.write(block, at: offset)
                    offset += 4096
                }
            }
            let writing = Task {
                try await store.write {
                    try $0.put(
                        seed: Digest(hashing: [1]), in: "c",
                        fields: ["n": .bytes([UInt8](repeating: 7, count: 100_000))])
                }
            }
            try await eventually("it says what it waits for") {
                said.withLock { $0 }.contains { $0.contains("waits for space") }
            }
            try filler.truncate(to: 0)
            _ = try await writing.value
            let documents = try await store.write {
                try $0.documents(in: "c", learnedAfter: 0, limit: .max)
            }
            #expect(documents.count == 2)
            #expect(said.withLock { $0 }.count == 1)
        }
    }
}
