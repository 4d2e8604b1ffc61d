import ChuteSystem
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

/// Compares ids and layers with those of libtorrent, which had no part in ours.
@Suite struct PieceTreeAgreementTests {
    private static let python = "/usr/bin/python3"

    /// In CI it is required, so that nobody misses that it went.
    static let isWanted =
        ProcessInfo.processInfo.environment["CI"] == "true"
        || (try? run(["-c", "import libtorrent"]))?.status == 0

    @Test(.enabled(if: isWanted, "python3-libtorrent is not installed"), .timeLimit(.minutes(2)))
    func `ids and layers agree with libtorrent`() async throws {
        var random = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...1_000_000, using: &random)
        let chosen = SeededBytes.make(count: 8 * 4, seed: seed).map(Int.init)
        let random24Bits = stride(from: 0, to: chosen.count, by: 4).map { index in
            1 + (chosen[index] << 16 | chosen[index + 1] << 8 | chosen[index + 2])
        }
        let lengths =
            [
                1, 16_383, 16_384, 16_385, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5_000_001,
                17_000_003,
            ] + random24Bits
        try await withTemporaryDirectory { folder in
            var ours: [String] = []
            for (index, length) in lengths.enumerated() {
                let name = "\(index)"
                let file = try FileDescriptor.open(
                    folder.appending(BytePath(name)), O_RDWR | O_CREAT)
                try file.write(SeededBytes.make(count: length, seed: seed &+ 1), at: 0)
                let summary = try #require(
                    try PieceTree.FileHasher().summary(of: file, expectedLength: UInt64(length)))
                ours.append(
                    "\(name) \(length) \(Hexadecimal.text(summary.id)) \(Hexadecimal.text(summary.layer))"
                )
            }
            let (status, output) = try Self.run(
                ["-W", "ignore", "-c", Self.script, folder.description])
            #expect(status == 0)
            #expect(output.split(separator: "\n").map(String.init) == ours, "seed \(seed)")
        }
    }

    private static let script = """
        import libtorrent as lt, os, sys
        folder = sys.argv[1]
        for name in sorted(os.listdir(folder), key=int):
            size = os.path.getsize(os.path.join(folder, name))
            files = lt.file_storage()
            files.add_file(name, size)
            torrent = lt.create_torrent(files, 1 << 20, lt.create_torrent.v2_only)
            lt.set_piece_hashes(torrent, folder)
            made = torrent.generate()
            root = made[b'info'][b'file tree'][name.encode()][b''][b'pieces root']
            layer = made.get(b'piece layers', {}).get(root, b'')
            print(name, size, root.hex(), layer.hex())
        """

    private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
