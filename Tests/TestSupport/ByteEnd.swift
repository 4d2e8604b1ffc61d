package import ChuteSystem
import Glibc

/// One end of a connection, for a test that reads and writes bytes.
package final class ByteEnd: Sendable {
    private let descriptor: FileDescriptor
    private let readiness: Readiness

    /// Takes over a connected, non-blocking socket.
    package init(_ descriptor: consuming FileDescriptor) throws {
        readiness = try Readiness(descriptor: descriptor.raw)
        self.descriptor = descriptor
    }

    /// Connects by TCP.
    package convenience init(to address: SocketAddress) async throws {
        try self.init(try await Socket.connect(to: address))
    }

    deinit { readiness.close() }

    /// Writes what is taken at once; how much that was.
    package func writeNow(_ bytes: some Sequence<UInt8>) throws -> Int {
        let bytes = Array(bytes)
        let count = send(descriptor.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        if count < 0, errno == EAGAIN { return 0 }
        guard count >= 0 else { throw SystemError.current("send") }
        return count
    }

    package func write(_ bytes: [UInt8]) async throws {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(
                    descriptor.raw, $0.baseAddress.map { $0 + done }, bytes.count - done,
                    Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                done += count
            } else if errno == EAGAIN {
                guard await readiness.wait(.write) else { throw CancellationError() }
            } else {
                throw SystemError.current("send")
            }
        }
    }

    package func write(_ text: String) async throws { try await write(Array(text.utf8)) }

    /// The next bytes, at most `limit`; none where the other end has closed.
    package func read(_ limit: Int = 64 << 10) async throws -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                let result = recv(descriptor.raw, buffer.baseAddress, buffer.count, 0)
                if result < 0 { failure = errno }
                count = max(result, 0)
            }
            switch failure {
            case 0: return bytes
            case EAGAIN:
                guard await readiness.wait(.read) else { throw CancellationError() }
            case ECONNRESET: return []
            default: throw SystemError(code: failure, call: "recv")
            }
        }
    }

    /// So many bytes, or fewer where the other end has closed.
    package func read(exactly count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let next = try await read(min(count - bytes.count, 1 << 20))
            if next.isEmpty { break }
            bytes += next
        }
        return bytes
    }

    /// Everything until the other end closes.
    package func readToEnd() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let next = try await read()
            if next.isEmpty { return bytes }
            bytes += next
        }
    }

    /// Everything until an empty line, as text: the header of an answer.
    package func readHeader() async throws -> String {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), bytes.count < 64 << 10 {
            let next = try await read(1)
            if next.isEmpty { break }
            bytes += next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Ends both directions. Calls `shutdown`.
    package func close() { _ = shutdown(descriptor.raw, Int32(SHUT_RDWR)) }
}
