@testable import ChuteSystem

/// Bytes on their way from one end to the other.
struct TLSFlow {
    private let source: TLSStream
    private let target: TLSStream
    private var left: Int
    private var seed: UInt8
    /// What is being written, from `offset` on.
    private var portion: [UInt8] = []
    private var offset = 0
    private let sent = SHA256()
    private let received = SHA256()
    private var missing: Int
    private var buffer = [UInt8](repeating: 0, count: 100_000)

    init(from source: TLSStream, to target: TLSStream, total: Int, seed: UInt8) {
        (self.source, self.target, self.seed) = (source, target, seed)
        (left, missing) = (total, total)
    }

    var isDone: Bool { missing == 0 }
    var sentDigest: [UInt8] { sent.finish() }
    var receivedDigest: [UInt8] { received.finish() }

    /// Writes a new portion or goes on with the last one, then reads what is there.
    mutating func step() throws {
        if offset == portion.count {
            seed = seed &* 5 &+ 1
            portion = [UInt8](repeating: seed, count: min(left, 200_000 + Int(seed)))
            offset = 0
            left -= portion.count
            sent.update(portion)
        } else {
            // The same bytes elsewhere in memory, as the moving buffer mode allows.
            portion = moved(portion)
        }
        let written = try portion.withUnsafeBytes { bytes in
            try source.write(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
        }
        if case .bytes(let count) = written { offset += count }
        while case .bytes(let count) = try read() { missing -= count }
    }

    private mutating func read() throws -> TLSStream.ReadResult {
        try buffer.withUnsafeMutableBytes { bytes in
            let result = try target.read(into: bytes)
            if case .bytes(let count) = result {
                received.update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
            return result
        }
    }

    private func moved(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, filled in
            _ = buffer.update(fromContentsOf: bytes)
            filled = bytes.count
        }
    }
}
