import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

struct PictureOutputTests {
    private static func names(in folder: BytePath) throws -> [BytePath] {
        try Folder(at: folder).entries().map(\.name)
    }

    private static func throwsExists(_ body: () throws -> Void) throws -> Bool {
        do { try body() } catch let error as SystemError where error.exists { return true }
        return false
    }

    @Test(arguments: [false, true])
    func `the name comes with the whole file`(isHidden: Bool) async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("a.jpg")
            let output = try PictureOutput(at: path, isHidden: isHidden)
            try output.file.write([1, 2, 3], at: 0)
            #expect(try !Self.names(in: folder).contains("a.jpg"))
            #expect(try Self.names(in: folder).count == (isHidden ? 1 : 0))
            try output.publish()
            #expect(try Self.names(in: folder) == ["a.jpg"])
            #expect(try FileStatus.of(path).size == 3)
        }
    }

    @Test(arguments: [false, true])
    func `what is not published is gone`(isHidden: Bool) async throws {
        try await withTemporaryDirectory { folder in
            do {
                let output = try PictureOutput(at: folder.appending("a.jpg"), isHidden: isHidden)
                try output.file.write([1, 2, 3], at: 0)
            }
            #expect(try Self.names(in: folder).isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `a name taken before or meanwhile is left as it is`(isHidden: Bool) async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appending("a.jpg")
            let early = try Self.throwsExists {
                let output = try PictureOutput(at: path, isHidden: isHidden)
                _ = try FileDescriptor.open(path, FileDescriptor.readWriteCreate)
                try output.publish()
            }
            #expect(early)
            let late = try Self.throwsExists {
                _ = try PictureOutput(at: path, isHidden: isHidden)
            }
            #expect(late)
            let names = try Self.names(in: folder)
            #expect(names == ["a.jpg"])
            #expect(try FileStatus.of(path).size == 0)
        }
    }
}
