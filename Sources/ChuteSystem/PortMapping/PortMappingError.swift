/// Why a router maps no port.
package enum PortMappingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The gateway answers neither NAT-PMP nor UPnP: it does not know them, or they are off there.
    case noAnswer(gateway: String)
    /// The router says no, by its own code.
    case refused(PortMapping.Method, code: Int)
    /// The router's own outer address is not public: another router stands before it.
    case behindAnother(address: String)
    /// The router has no outer address, or says none, as some do behind another router.
    case notConnected
    /// A call failed by a code of its library's.
    case failed(call: String, code: Int)

    package var description: String {
        switch self {
        case .noAnswer(let gateway): "\(gateway) answers neither NAT-PMP nor UPnP"
        case .refused(let method, let code): "the router refuses (\(method.rawValue) \(code))"
        case .behindAnother(let address):
            "the router itself has the private address \(address): another one stands before it"
        case .notConnected:
            "the router has no public address: it is not connected to the internet, or another one "
                + "stands before it"
        case .failed(let call, let code): "\(call) failed: \(code)"
        }
    }
}
