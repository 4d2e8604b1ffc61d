import ChuteSystem
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ChuteKit

@Suite struct PieceTreeTests {
    static let lengths: [Int] = [
        0, 1, 16_383, 16_384, 16_385, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 2 << 20, 5_000_001,
        17_000_003,
    ]

    @Test func `the empty file has the SHA-256 of nothing`() {
        let summary = streamed([], portion: 1)
        #expect(
            Hexadecimal.text(summary.id)
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(summary.byteCount == 0 && summary.layer.isEmpty)
        #expect(piecewise([]) == summary)
    }

    @Test func `a file of one leaf is named by its plain digest`() {
        let bytes = SeededBytes.make(count: 16_384, seed: 1)
        #expect(streamed(bytes, portion: 1000).id == SHA256.hash(bytes))
        #expect(streamed(Array("abc".utf8), portion: 2).id == SHA256.hash(Array("abc".utf8)))
    }

    @Test func `three leaves are padded with zeros to four`() {
        let bytes = SeededBytes.make(count: 2 * 16_384 + 5, seed: 2)
        let leaves = [bytes[..<16_384], bytes[16_384..<32_768], bytes[32_768...]].map {
            SHA256.hash(Array($0))
        }
        let left = SHA256.hash(leaves[0] + leaves[1])
        let right = SHA256.hash(leaves[2] + [UInt8](repeating: 0, count: 32))
        #expect(streamed(bytes, portion: 7777).id == SHA256.hash(left + right))
    }

    @Test func `the two halves of a root as a file share its id but not its length`() {
        let bytes = SeededBytes.make(count: 2 * 16_384, seed: 3)
        let original = streamed(bytes, portion: 4096)
        let twin =
            SHA256.hash(Array(bytes[..<16_384])) + SHA256.hash(Array(bytes[16_384...]))
        let other = streamed(twin, portion: 64)
        #expect(original.id == other.id)
        #expect(original != other)
        #expect(original.byteCount == 32_768 && other.byteCount == 64)
    }

    @Test(arguments: lengths)
    func `streaming, pieces and files give the same summary`(length: Int) async throws {
        let bytes = SeededBytes.make(count: length, seed: UInt64(length))
        let expected = piecewise(bytes)
        #expect(expected.byteCount == UInt64(length))
        #expect(streamed(bytes, portion: 100_003) == expected)
        try await withTemporaryDirectory { folder in
            let file = try FileDescriptor.open(folder.appending("file"), O_RDWR | O_CREAT)
            try file.write(bytes, at: 0)
            let hasher = PieceTree.FileHasher()
            // Also with wrong expectations: they choose the threads, not the result.
            for expectation in [UInt64(length), 0, 64 << 20] {
                let summary = try hasher.summary(of: file, expectedLength: expectation)
                #expect(summary == expected)
            }
        }
    }

    @Test func `a file hash stops when told to`() async throws {
        try await withTemporaryDirectory { folder in
            let file = try FileDescriptor.open(folder.appending("file"), O_RDWR | O_CREAT)
            try file.truncate(to: 20 << 20)
            let asked = Atomic<Int>(0)
            let summary = try PieceTree.FileHasher().summary(of: file, expectedLength: 20 << 20) {
                asked.add(1, ordering: .relaxed).newValue > 3
            }
            #expect(summary == nil)
            #expect(asked.load(ordering: .relaxed) <= 5)
        }
    }

    @Test func `a file that is cut while it is hashed ends where it was cut`() async throws {
        try await withTemporaryDirectory { folder in
            let bytes = SeededBytes.make(count: 3 << 20, seed: 6)
            let file = try FileDescriptor.open(folder.appending("file"), O_RDWR | O_CREAT)
            try file.write(bytes, at: 0)
            let number = file.raw
            let asked = Atomic<Int>(0)
            let summary = try PieceTree.FileHasher().summary(of: file, expectedLength: 3 << 20) {
                // Before the third piece is read.
                if asked.add(1, ordering: .relaxed).newValue == 3 {
                    #expect(ftruncate(number, (2 << 20) + 5) == 0)
                }
                return false
            }
            #expect(summary == piecewise(Array(bytes[..<((2 << 20) + 5)])))
        }
    }

    @Test func `a descriptor that cannot be read is an error`() async throws {
        try await withTemporaryDirectory { folder in
            let file = try FileDescriptor.open(folder, O_RDONLY)
            for length in [UInt64(0), 64 << 20] {
                #expect(throws: SystemError.self) {
                    try PieceTree.FileHasher().summary(of: file, expectedLength: length)
                }
            }
        }
    }

    @Test func `a layer belongs to one id and one length`() {
        let summary = streamed(SeededBytes.make(count: 5_000_001, seed: 4), portion: 1 << 20)
        let (id, layer) = (summary.id, summary.layer)
        #expect(layer.count == 5 * 32)
        #expect(PieceTree.isPieceLayer(layer, ofID: id, length: 5_000_001))
        #expect(!PieceTree.isPieceLayer(layer, ofID: id, length: 1 << 22))
        #expect(!PieceTree.isPieceLayer(layer, ofID: id, length: 1))
        #expect(!PieceTree.isPieceLayer(layer, ofID: id, length: .max))
        #expect(!PieceTree.isPieceLayer([], ofID: id, length: 5_000_001))
        #expect(!PieceTree.isPieceLayer(layer.dropLast(), ofID: id, length: 5_000_001))
        #expect(!PieceTree.isPieceLayer(layer, ofID: Array(id.reversed()), length: 5_000_001))
        for index in layer.indices {
            var wrong = layer
            wrong[index] ^= 1
            #expect(!PieceTree.isPieceLayer(wrong, ofID: id, length: 5_000_001))
        }
        #expect(PieceTree.isPieceLayer([], ofID: id, length: 1 << 20))
    }

    @Test func `the expected root of a piece is the id or stands in the layer`() {
        let layer = SeededBytes.make(count: 96, seed: 5)
        func root(_ piece: UInt64, _ length: UInt64) -> [UInt8]? {
            let layer = length > 1 << 20 ? layer : []
            return PieceTree.expectedRoot(ofPiece: piece, layer: layer, id: [7], length: length)
        }
        #expect(root(0, 1) == [7] && root(0, 1 << 20) == [7])
        #expect(root(1, 1 << 20) == nil && root(0, 0) == nil && root(.max, .max) == nil)
        #expect(root(2, 3 << 20) == Array(layer[64...]))
        #expect(root(3, 3 << 20) == nil && root(0, 4 << 20) == nil)
    }

    @Test func `pieces are counted and measured`() {
        #expect(PieceTree.pieceCount(length: 0) == 0)
        #expect(PieceTree.pieceCount(length: 1) == 1)
        #expect(PieceTree.pieceCount(length: 1 << 20) == 1)
        #expect(PieceTree.pieceCount(length: (1 << 20) + 1) == 2)
        #expect(PieceTree.pieceCount(length: .max) == 1 << 44)
        #expect(PieceTree.byteCount(ofPiece: 0, length: 5) == 5)
        #expect(PieceTree.byteCount(ofPiece: 1, length: (1 << 20) + 1) == 1)
        #expect(PieceTree.byteCount(ofPiece: 2, length: (1 << 20) + 1) == 0)
        #expect(PieceTree.byteCount(ofPiece: .max, length: .max) == 0)
    }

    @Test func `bytes of another length than the piece have no root`() {
        let hasher = PieceTree.PieceHasher()
        [UInt8](repeating: 1, count: 100).withUnsafeBytes { bytes in
            #expect(hasher.pieceRoot(of: bytes, fileLength: 101, piece: 0) == nil)
            #expect(hasher.pieceRoot(of: bytes, fileLength: 100, piece: 1) == nil)
            #expect(hasher.pieceRoot(of: bytes, fileLength: 0, piece: 0) == nil)
            #expect(hasher.pieceRoot(of: bytes, fileLength: 100, piece: 0) != nil)
        }
    }

    private func streamed(_ bytes: [UInt8], portion: Int) -> PieceTree.Summary {
        var hasher = PieceTree.StreamHasher()
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: portion) {
                let end = min(start + portion, bytes.count)
                hasher.update(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
        }
        return hasher.finish()
    }

    private func piecewise(_ bytes: [UInt8]) -> PieceTree.Summary {
        let hasher = PieceTree.PieceHasher()
        let length = UInt64(bytes.count)
        let roots = bytes.withUnsafeBytes { bytes in
            (0..<max(1, PieceTree.pieceCount(length: length))).map { piece in
                let start = Int(piece) * PieceTree.pieceByteCount
                let count = PieceTree.byteCount(ofPiece: piece, length: length)
                let part = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
                return hasher.pieceRoot(of: part, fileLength: length, piece: piece) ?? []
            }
        }
        if roots.count == 1 {
            return PieceTree.Summary(id: roots[0], byteCount: length, layer: [])
        }
        let layer = Array(roots.joined())
        let id = PieceTree.root(ofPieceLayer: layer, fileLength: length) ?? []
        return PieceTree.Summary(id: id, byteCount: length, layer: layer)
    }
}

/// Bytes that look random and are the same for each seed.
enum SeededBytes {
    static func make(count: Int, seed: UInt64) -> [UInt8] {
        var state = seed
        var bytes = [UInt8](repeating: 0, count: (count + 7) / 8 * 8)
        bytes.withUnsafeMutableBytes { bytes in
            for index in 0..<bytes.count / 8 {
                state &+= 0x9e37_79b9_7f4a_7c15
                var word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
                word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
                bytes.storeBytes(of: word ^ word >> 31, toByteOffset: index * 8, as: UInt64.self)
            }
        }
        return Array(bytes.prefix(count))
    }
}
