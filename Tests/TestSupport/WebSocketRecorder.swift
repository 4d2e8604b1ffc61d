import ChuteSystem
import Synchronization

/// Stands between a client and a server of WebSockets without TLS, as a proxy does, and keeps what
/// a proxy can read: the header, and all messages without their masks.
package final class WebSocketRecorder: Sendable {
    private final class Record: Sendable {
        let read = Mutex<[UInt8]>([])
    }

    private let server: RawServer
    private let record = Record()

    /// Passes connections on to a port of this host.
    package init(to port: UInt16) throws {
        let record = record
        server = try RawServer { client in
            let other = try await ByteEnd(to: SocketAddress(host: "127.0.0.1", port: port))
            async let back: Void = Self.pass(from: other, to: client, record)
            try await Self.pass(from: client, to: other, record)
            try await back
        }
    }

    package var port: UInt16 { server.address.port }

    /// What was read of all connections, those of each direction after each other.
    package var bytes: [UInt8] { record.read.withLock { $0 } }

    private static func pass(from: ByteEnd, to: ByteEnd, _ record: Record) async throws {
        var reader = WebSocketReader()
        var readable: [UInt8] = []
        defer {
            record.read.withLock { $0 += readable }
            to.close()
        }
        while true {
            let bytes = try await from.read()
            if bytes.isEmpty { return }
            readable += reader.read(bytes)
            try await to.write(bytes)
        }
    }
}

/// Reads one direction of a WebSocket. A value without I/O.
private struct WebSocketReader {
    private var waiting: [UInt8] = []
    private var isOpen = false
    /// Of the frame that is read: what is missing of its payload, its mask, and where in that.
    private var missing = 0
    private var mask: [UInt8] = []
    private var place = 0

    /// The header, and the payloads of frames, in what came.
    mutating func read(_ bytes: [UInt8]) -> [UInt8] {
        waiting += bytes
        var found: [UInt8] = []
        if !isOpen {
            guard let end = Self.endOfHeader(waiting) else { return [] }
            found += waiting[..<end]
            waiting.removeFirst(end)
            isOpen = true
        }
        while true {
            let count = min(missing, waiting.count)
            for byte in waiting[..<count] {
                found.append(mask.isEmpty ? byte : byte ^ mask[place & 3])
                place += 1
            }
            waiting.removeFirst(count)
            missing -= count
            guard missing == 0, beginFrame() else { return found }
        }
    }

    private static func endOfHeader(_ bytes: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        return bytes.indices.dropLast(3).first { bytes[$0..<$0 + 4].elementsEqual(end) }.map {
            $0 + 4
        }
    }

    private mutating func beginFrame() -> Bool {
        guard waiting.count >= 2 else { return false }
        let (isMasked, short) = (waiting[1] & 0x80 != 0, Int(waiting[1] & 0x7F))
        let lengthCount = short == 127 ? 8 : short == 126 ? 2 : 0
        let headCount = 2 + lengthCount + (isMasked ? 4 : 0)
        guard waiting.count >= headCount else { return false }
        missing =
            lengthCount == 0
            ? short : waiting[2..<2 + lengthCount].reduce(0) { $0 << 8 | Int($1) }
        mask = isMasked ? Array(waiting[headCount - 4..<headCount]) : []
        place = 0
        waiting.removeFirst(headCount)
        return true
    }
}
