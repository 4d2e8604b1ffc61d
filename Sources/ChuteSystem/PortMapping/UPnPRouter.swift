import CMiniUPnP
import Glibc

/// A router that is asked by UPnP (Internet Gateway Device). Owns what was found out about it;
/// calls block, each for some seconds where it does not answer. Not `Sendable`: belongs to whoever
/// made it.
final class UPnPRouter {
    private var urls = UPNPUrls()
    private let service: String
    /// This host's address on the way to the router.
    private let ownAddress: String

    /// How long answers are waited for, for each kind of device that is looked for.
    private static let patience: Int32 = 1500

    /// What a router answers to a mapping that another host has.
    static let isTaken: Set<Int> = [718, 729]
    /// What a router answers that knows no leases.
    static let knowsNoLeases = 725

    /// Looks for the router that is the gateway; `nil` where it does not answer. Others in the
    /// network are not asked for anything: what passes us on is the gateway. Calls `upnpDiscover`
    /// and `UPNP_GetIGDFromUrl`.
    init?(gateway: DefaultGateway) throws(PortMappingError) {
        var code: Int32 = 0
        let devices = upnpDiscover(
            Self.patience, gateway.interface, nil, UPNP_LOCAL_PORT_ANY, 0, 2, &code)
        defer { freeUPNPDevlist(devices) }
        guard devices != nil || code == UPNPDISCOVER_SUCCESS else {
            throw .failed(call: "upnpDiscover", code: Int(code))
        }
        var next = devices
        while let device = next?.pointee {
            next = device.pNext
            guard Self.isURL(device.descURL, at: gateway) else { continue }
            var (urls, data) = (UPNPUrls(), IGDdatas())
            var own = [CChar](repeating: 0, count: 64)
            let isRead =
                UPNP_GetIGDFromUrl(
                    device.descURL, &urls, &data, &own, Int32(own.count)) == 1
            let service = withUnsafeBytes(of: data.first.servicetype) { Self.text($0) }
            guard isRead, service.contains(":WAN"), Self.isURL(urls.controlURL, at: gateway) else {
                FreeUPNPUrls(&urls)
                continue
            }
            self.urls = urls
            self.service = service
            ownAddress = own.withUnsafeBytes { Self.text($0) }
            return
        }
        return nil
    }

    deinit { FreeUPNPUrls(&urls) }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func isURL(_ url: UnsafePointer<CChar>?, at gateway: DefaultGateway) -> Bool {
        guard let url else { return false }
        let text = String(cString: url)
        return ["/", ":"].contains { text.hasPrefix("http://\(gateway.address)\($0)") }
    }

    /// The router's outer address; `nil` where it has none. Calls `UPNP_GetExternalIPAddress`.
    func externalAddress() throws(PortMappingError) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        let result = UPNP_GetExternalIPAddress(urls.controlURL, service, &text)
        guard result == UPNPCOMMAND_SUCCESS else {
            throw Self.error(result, "UPNP_GetExternalIPAddress")
        }
        let address = text.withUnsafeBytes { Self.text($0) }
        return address.isEmpty || address == "0.0.0.0" ? nil : address
    }

    /// Has a TCP port passed on; for ever where `seconds` is 0. Calls `UPNP_AddPortMapping`.
    func map(_ port: UInt16, to external: UInt16, seconds: Int) throws(PortMappingError) {
        let result = UPNP_AddPortMapping(
            urls.controlURL, service, String(external), String(port), ownAddress, "Chute", "TCP",
            nil, String(seconds))
        guard result == UPNPCOMMAND_SUCCESS else {
            throw Self.error(result, "UPNP_AddPortMapping")
        }
    }

    /// Has a port not passed on any longer. Calls `UPNP_DeletePortMapping`.
    func unmap(_ external: UInt16) throws(PortMappingError) {
        let result = UPNP_DeletePortMapping(
            urls.controlURL, service, String(external), "TCP", nil)
        guard result == UPNPCOMMAND_SUCCESS else {
            throw Self.error(result, "UPNP_DeletePortMapping")
        }
    }

    /// Positive codes are the router's.
    private static func error(_ code: Int32, _ call: String) -> PortMappingError {
        code > 0 ? .refused(.upnp, code: Int(code)) : .failed(call: call, code: Int(code))
    }
}
