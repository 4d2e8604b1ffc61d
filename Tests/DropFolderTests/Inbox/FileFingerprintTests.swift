import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

struct FileFingerprintTests {
    @Test(arguments: [
        FileFingerprint(inode: 1, birth: 2, size: 3, modified: 4, changed: 5),
        FileFingerprint(inode: .max, birth: .min, size: .max, modified: -1, changed: .max),
    ])
    func `it survives being stored`(fingerprint: FileFingerprint) {
        #expect(fingerprint.encoded.count == FileFingerprint.encodedByteCount)
        #expect(FileFingerprint(encoded: fingerprint.encoded) == fingerprint)
        #expect(FileFingerprint(encoded: fingerprint.encoded.dropLast()) == nil)
        #expect(FileFingerprint(encoded: [UInt8]()) == nil)
    }

    @Test(arguments: [
        (Int64(0), false), (990_000_000, false), (1_000_000_000, true), (990_000_001, true),
        (1_009_999_999, true), (Int64.max, false), (Int64.min, false),
    ])
    func `stamps of the moment of the read are racy`(stamp: Int64, isRacy: Bool) {
        let now = Int64(1_000_000_000)
        let asModified = FileFingerprint(
            inode: 1, birth: 1, size: 1, modified: stamp, changed: 0)
        let asChanged = FileFingerprint(
            inode: 1, birth: 1, size: 1, modified: 0, changed: stamp)
        #expect(asModified.isRacy(now: now) == isRacy)
        #expect(asChanged.isRacy(now: now) == isRacy)
    }

    @Test func `a renamed file is the same, a rewritten one has other times`() async throws {
        try await withTemporaryDirectory { path in
            let folder = try Folder(at: path)
            try folder.open("a", O_CREAT | O_WRONLY).write([1], at: 0)
            let before = FileFingerprint(try FileStatus.of("a", in: folder.descriptor.raw))
            try folder.rename("a", to: "b")
            let renamed = FileFingerprint(try FileStatus.of("b", in: folder.descriptor.raw))
            #expect(renamed.hasSameContentTimes(as: before))
            try folder.open("b", O_WRONLY).write([1, 2], at: 0)
            let rewritten = FileFingerprint(try FileStatus.of("b", in: folder.descriptor.raw))
            #expect(!rewritten.hasSameContentTimes(as: before))
        }
    }
}
