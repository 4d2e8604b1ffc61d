import ChuteSystem
import Glibc
import TestSupport
import Testing

struct LeaseStateTests {
    @Test func `an open writer makes a file busy until it closes`() async throws {
        try await withTemporaryDirectory { path in
            let folder = try Folder(at: path)
            func probe() throws -> LeaseState {
                LeaseState.probe(try folder.open("a", O_RDONLY))
            }
            do {
                let writer = try folder.open("a", O_CREAT | O_WRONLY)
                try writer.write([1], at: 0)
                #expect(try probe() == .busy)
            }
            #expect(try probe() == .free)
        }
    }

    @Test func `a writable mapping makes a file busy`() async throws {
        try await withTemporaryDirectory { path in
            let folder = try Folder(at: path)
            let mapped: UnsafeMutableRawPointer?
            do {
                let writer = try folder.open("a", O_CREAT | O_RDWR)
                try writer.truncate(to: 4096)
                mapped = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writer.raw, 0)
            }
            try #require(mapped != MAP_FAILED)
            let file = try folder.open("a", O_RDONLY)
            #expect(LeaseState.probe(file) == .busy)
            munmap(mapped, 4096)
            #expect(LeaseState.probe(file) == .free)
        }
    }

    @Test func `the lease is given back at once`() async throws {
        try await withTemporaryDirectory { path in
            let folder = try Folder(at: path)
            try folder.open("a", O_CREAT | O_WRONLY).write([1], at: 0)
            let file = try folder.open("a", O_RDONLY)
            #expect(LeaseState.probe(file) == .free)
            // While a lease is held this is refused with EWOULDBLOCK.
            _ = try folder.open("a", O_WRONLY | O_NONBLOCK)
        }
    }

    @Test(arguments: [
        (UInt64(0x6969), FileSystemReach.remote), (0x6573_5546, .remote), (0xFF53_4D42, .remote),
        (0xFFFF_FFFF_FF53_4D42, .remote), (0xEF53, .local), (0x0102_1994, .local),
        (0x794C_7630, .local), (0x9123_683E, .local),
    ])
    func `network and FUSE file systems are remote`(type: UInt64, kind: FileSystemReach) {
        #expect(FileSystemReach.of(type: type) == kind)
    }
}
