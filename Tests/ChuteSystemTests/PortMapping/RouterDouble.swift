import ChuteSystem
@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Answers NAT-PMP (RFC 6886) at a loopback address as a test says.
final class RouterDouble: Sendable {
    /// What it answers to a request.
    struct Answer: Sendable {
        var code: UInt16 = 0
        /// What follows the code and the time.
        var rest: [UInt8] = []
    }

    let gateway: DefaultGateway
    private let raw: Int32
    private let heard = Mutex<[[UInt8]]>([])

    /// What it was asked, in order.
    var requests: [[UInt8]] { heard.withLock { $0 } }

    /// Answers by `answer` from now on; to what that has no answer for, nothing.
    init(at address: String, answer: @escaping @Sendable ([UInt8]) -> Answer?) throws {
        gateway = DefaultGateway(address: address, interface: "lo")
        raw = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard raw >= 0 else { throw SystemError(code: errno, call: "socket") }
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_port = UInt16(5351).bigEndian
        inet_pton(AF_INET, address, &own.sin_addr)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(raw, $0, size) }
        }
        guard result == 0 else {
            let code = errno
            close(raw)
            throw SystemError(code: code, call: "bind")
        }
        DispatchQueue(label: "chute.test.router").async { [self] in serve(answer) }
    }

    /// Ends it; the thread ends by an empty message.
    func stop() {
        var own = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = getsockname(raw, $0, &size)
                _ = sendto(raw, nil, 0, 0, $0, size)
            }
        }
    }

    private func serve(_ answer: ([UInt8]) -> Answer?) {
        defer { close(raw) }
        var buffer = [UInt8](repeating: 0, count: 64)
        while true {
            var peer = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &peer) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                    let count = recvfrom(raw, &buffer, buffer.count, 0, peer, &size)
                    guard count > 1 else {
                        buffer = []
                        return
                    }
                    let request = Array(buffer[..<count])
                    heard.withLock { $0.append(request) }
                    guard let answer = answer(request) else { return }
                    let head = [
                        0, request[1] | 0x80, UInt8(answer.code >> 8), UInt8(answer.code & 0xFF),
                    ]
                    let bytes = head + [0, 0, 0, 1] + answer.rest
                    _ = sendto(raw, bytes, bytes.count, 0, peer, size)
                }
            }
            if buffer.isEmpty { return }
        }
    }
}
