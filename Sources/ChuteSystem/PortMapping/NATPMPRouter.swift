import CNATPMP
import Glibc

/// A router that is asked by NAT-PMP (RFC 6886). Owns a `natpmp_t`; calls block, each for at most
/// two seconds. Not `Sendable`: belongs to whoever made it.
final class NATPMPRouter {
    private var raw = natpmp_t()

    /// How long an answer is waited for; the library asks again after 0.25, 0.75 and 1.75 s.
    private static let patience = Duration.seconds(2)

    /// Calls `initnatpmp`.
    init(gateway: String) throws(PortMappingError) {
        var address = in_addr()
        guard inet_pton(AF_INET, gateway, &address) == 1 else {
            throw .failed(call: "inet_pton", code: 0)
        }
        let result = initnatpmp(&raw, 1, address.s_addr)
        guard result == 0 else { throw .failed(call: "initnatpmp", code: Int(result)) }
        // A program that is started meanwhile has nothing to do with it.
        _ = fcntl(raw.s, F_SETFD, FD_CLOEXEC)
    }

    deinit { closenatpmp(&raw) }

    /// The router's outer address; `nil` where it does not speak NAT-PMP. Calls
    /// `sendpublicaddressrequest`.
    func externalAddress() throws(PortMappingError) -> String? {
        let sent = sendpublicaddressrequest(&raw)
        guard let answer = try answer(sent, "sendpublicaddressrequest") else { return nil }
        guard answer.type == UInt16(NATPMP_RESPTYPE_PUBLICADDRESS) else {
            throw .failed(call: "readnatpmpresponseorretry", code: Int(answer.type))
        }
        var address = answer.pnu.publicaddress.addr
        var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
        guard inet_ntop(AF_INET, &address, &text, socklen_t(text.count)) != nil else { return nil }
        return String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Has a TCP port passed on, or not any longer with a lease of zero; the outer port and the
    /// lease that the router chose. Calls `sendnewportmappingrequest`.
    func map(
        _ port: UInt16, to external: UInt16, seconds: UInt32
    ) throws(PortMappingError) -> (port: UInt16, seconds: UInt32)? {
        let sent = sendnewportmappingrequest(&raw, NATPMP_PROTOCOL_TCP, port, external, seconds)
        guard let answer = try answer(sent, "sendnewportmappingrequest") else { return nil }
        let mapping = answer.pnu.newportmapping
        guard answer.type == UInt16(NATPMP_RESPTYPE_TCPPORTMAPPING), mapping.privateport == port
        else { throw .failed(call: "readnatpmpresponseorretry", code: Int(answer.type)) }
        return (mapping.mappedpublicport, mapping.lifetime)
    }

    /// The answer to what was sent; `nil` where none comes. Calls `readnatpmpresponseorretry`.
    private func answer(
        _ sent: Int32, _ call: String
    ) throws(PortMappingError) -> natpmpresp_t? {
        guard sent >= 0 else {
            // What the system heard about an earlier packet.
            if sent == NATPMP_ERR_SENDERR, errno == ECONNREFUSED { return nil }
            throw .failed(call: call, code: Int(sent))
        }
        let end = ContinuousClock.now + Self.patience
        while ContinuousClock.now < end {
            var answer = natpmpresp_t()
            let result = readnatpmpresponseorretry(&raw, &answer)
            switch result {
            case 0: return answer
            case NATPMP_TRYAGAIN: waitForAnswer(until: end)
            case NATPMP_ERR_NOGATEWAYSUPPORT, NATPMP_ERR_UNSUPPORTEDVERSION,
                NATPMP_ERR_UNSUPPORTEDOPCODE:
                return nil
            case NATPMP_ERR_NETWORKFAILURE: throw .notConnected
            case NATPMP_ERR_NOTAUTHORIZED, NATPMP_ERR_OUTOFRESOURCES:
                throw .refused(.natPMP, code: Int(result))
            default: throw .failed(call: "readnatpmpresponseorretry", code: Int(result))
            }
        }
        return nil
    }

    /// Waits until something came, or the library would ask again. Calls `poll`.
    private func waitForAnswer(until end: ContinuousClock.Instant) {
        var pause = timeval()
        guard getnatpmprequesttimeout(&raw, &pause) == 0 else { return }
        let rest = (end - ContinuousClock.now) / .milliseconds(1)
        let milliseconds = Double(pause.tv_sec) * 1000 + Double(pause.tv_usec) / 1000
        var waiting = pollfd(fd: raw.s, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, Int32(max(1, min(milliseconds, rest, 10_000))))
    }
}
