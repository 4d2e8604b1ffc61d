import ChuteSystem

/// Frames over one TLS connection, in both directions, within bounds.
///
/// Not `Sendable`: belongs to the actor of its session. The input buffer grows to the largest
/// frame that is allowed and no further; the output buffer grows by what control messages need,
/// while data waits in `drain` until there is room.
final class FrameChannel {
    enum Frame {
        case known(FrameType, UnsafeRawBufferPointer)
        case unknown(UInt8)
    }

    private let stream: TLSStream
    private let readiness: Readiness
    private var input: UnsafeMutableRawBufferPointer
    private var filled = 0
    private var consumed = 0
    /// How the stream ended, once it did and bytes came before that.
    private var ending: Result<TLSStream.ReadResult, any Error>?
    private var output: [UInt8] = []
    private var sent = 0
    /// How fast bytes are taken in; `nil` for as fast as they come.
    struct Pace {
        /// How many bytes are taken in at once; `nil` for all that there are.
        let portion: () -> Int?
        /// Waits until so many bytes may pass.
        let pass: @Sendable (Int) async throws -> Void
    }

    var readingPace: Pace?
    /// Raised once the peer has proved itself.
    var isProved = false
    private(set) var bytesReceived: UInt64 = 0
    /// When the last byte came: a long frame on a slow link is a sign of life too.
    private(set) var lastReceived = ContinuousClock.now
    private(set) var bytesSent: UInt64 = 0

    private static let inputByteCount = 256 << 10
    /// Data waits while more than this is still unsent, so that control overtakes it.
    static let lowWater = 128 << 10
    /// A peer that does not read for this much control is cut off.
    private static let outputLimit = 32 << 20

    init(stream: TLSStream, readiness: Readiness) {
        self.stream = stream
        self.readiness = readiness
        input = .allocate(byteCount: Self.inputByteCount, alignment: 16)
    }

    deinit { input.deallocate() }

    /// Ends all waiting: a task that waits here gets `CancellationError`.
    func close() {
        stream.shutdown()
        readiness.close()
    }

    nonisolated(nonsending) func handshake() async throws {
        while true {
            switch try stream.handshake() {
            case .done: return
            case .wantsRead: try await wait(.read)
            case .wantsWrite: try await wait(.write)
            }
        }
    }

    private nonisolated(nonsending) func wait(_ direction: Readiness.Direction) async throws {
        guard await readiness.wait(direction) else { throw CancellationError() }
    }

    /// The next frame; `nil` where the peer ended cleanly between frames. The payload is valid
    /// until the next call. An end anywhere else is `cut`.
    nonisolated(nonsending) func next() async throws -> Frame? {
        while true {
            if let frame = try parse() { return frame }
            makeRoom()
            switch try fill() {
            case .bytes(let count): try await readingPace?.pass(count)
            case .wantsRead: try await wait(.read)
            case .wantsWrite: try await wait(.write)
            case .closed(let clean):
                if clean, consumed == filled { return nil }
                throw ChuteError(.unreachable, "the connection was cut", isTransient: true)
            }
        }
    }

    /// The next frame of what came already; `nil` where that holds no more whole ones. Never waits.
    func nextAtHand() throws -> Frame? {
        while true {
            if let frame = try parse() { return frame }
            makeRoom()
            guard case .bytes = try fill() else { return nil }
        }
    }

    /// Takes in all that is there and has room: one call of OpenSSL gives one record at most.
    private func fill() throws -> TLSStream.ReadResult {
        if let ending { return try ending.get() }
        let before = filled
        let end = readingPace?.portion().map { min(input.count, before + $0) } ?? input.count
        var last = Result<TLSStream.ReadResult, any Error>.success(.bytes(0))
        while filled < end {
            let room = UnsafeMutableRawBufferPointer(rebasing: input[filled..<end])
            last = Result { try stream.read(into: room) }
            guard case .success(.bytes(let count)) = last else { break }
            filled += count
        }
        guard filled > before else { return try last.get() }
        bytesReceived += UInt64(filled - before)
        lastReceived = .now
        // What came before the end is taken in first.
        switch last {
        case .failure, .success(.closed): ending = last
        case .success: break
        }
        return .bytes(filled - before)
    }

    /// Whether the next frame is here as a whole already.
    var hasWholeFrame: Bool {
        let available = filled - consumed
        guard available >= FrameType.headerByteCount else { return false }
        let length = UInt32(
            bigEndian: input.loadUnaligned(fromByteOffset: consumed, as: UInt32.self))
        return available - 4 >= Int(length)
    }

    /// The frame at the start of what is there, if all of it is.
    private func parse() throws(WireError) -> Frame? {
        let available = filled - consumed
        guard available >= FrameType.headerByteCount else { return nil }
        let length = Int(
            UInt32(bigEndian: input.loadUnaligned(fromByteOffset: consumed, as: UInt32.self)))
        guard length >= 1 else { throw .malformed("a frame without a type") }
        let rawType = input[consumed + 4]
        let type = FrameType(rawValue: rawType)
        var limit = type?.payloadLimit ?? FrameType.unknownPayloadLimit
        if !isProved { limit = min(limit, FrameType.unprovedPayloadLimit) }
        guard length - 1 <= limit else { throw .tooLarge("a frame of \(length) bytes") }
        let total = length + 4
        guard available >= total else {
            if total > input.count { grow(to: total) }
            return nil
        }
        let payload = UnsafeRawBufferPointer(
            rebasing: input[(consumed + FrameType.headerByteCount)..<(consumed + total)])
        consumed += total
        guard let type else { return .unknown(rawType) }
        return .known(type, payload)
    }

    private func makeRoom() {
        if consumed == filled {
            consumed = 0
            filled = 0
            if input.count > Self.inputByteCount { resize(to: Self.inputByteCount) }
        } else if filled == input.count || consumed > input.count / 2 {
            moveDown()
        }
    }

    private func moveDown() {
        input.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[consumed..<filled]))
        filled -= consumed
        consumed = 0
    }

    private func grow(to count: Int) {
        moveDown()
        resize(to: count)
    }

    private func resize(to count: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<filled]))
        input.deallocate()
        input = larger
    }

    /// Puts a frame behind what is still unsent, and sends what the socket takes now.
    func send(_ type: FrameType, _ payload: [UInt8]) throws {
        guard output.count - sent < Self.outputLimit else {
            throw ChuteError(.unreachable, "the peer does not read", isTransient: true)
        }
        appendHeader(type, payload.count)
        output.append(contentsOf: payload)
        try flush()
    }

    func send(_ type: FrameType, _ payload: CBOR) throws { try send(type, payload.encoded()) }

    /// Puts a piece frame behind what is still unsent; call `drain` before.
    func sendPiece(request: UInt32, offset: Int, data: UnsafeRawBufferPointer) throws {
        appendHeader(.piece, PieceFrame.headerByteCount + data.count)
        output.append(contentsOf: PieceFrame.header(request: request, offset: UInt32(offset)))
        output.append(contentsOf: data)
        try flush()
    }

    private func appendHeader(_ type: FrameType, _ count: Int) {
        withUnsafeBytes(of: UInt32(count + 1).bigEndian) { output.append(contentsOf: $0) }
        output.append(type.rawValue)
    }

    /// Sends what the socket takes now.
    private func flush() throws {
        while sent < output.count {
            let result = try output.withUnsafeBytes {
                try stream.write(UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            guard case .bytes(let count) = result else { break }
            sent += count
            bytesSent += UInt64(count)
        }
        if sent == output.count {
            output.removeAll(keepingCapacity: output.capacity <= 1 << 20)
            sent = 0
        } else if sent > 1 << 20 {
            output.removeFirst(sent)
            sent = 0
        }
    }

    /// Suspends until at most `count` bytes are unsent. One task at a time.
    nonisolated(nonsending) func drain(to count: Int = lowWater) async throws {
        while output.count - sent > count {
            try await wait(.write)
            try flush()
        }
    }

    var hasUnsent: Bool { sent < output.count }

    var peerPublicKey: [UInt8] { stream.peerSPKI }

    /// 32 bytes that only the two ends of this connection know.
    func exporter() throws -> [UInt8] {
        try stream.exportKeyingMaterial(label: "EXPORTER-chute-prove-1", context: [], count: 32)
    }
}
