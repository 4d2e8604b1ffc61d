import ChuteSystem

extension Chute {
    /// How an engine reaches other devices: by which transports, and with what limits.
    public struct Network: Hashable, Sendable {
        /// What it uses, each once. Where several could dial an address, the first one does.
        public var transports: [any StreamTransport]

        /// How fast it sends and receives.
        public var limits = Limits()
        /// The names of the transports by which a device is connected, of those that are not
        /// connected by all.
        public var allowed: [DeviceID: Set<String>] = [:]

        /// Uses these transports.
        public init(transports: [any StreamTransport]) { self.transports = transports }

        /// Bytes a second; `nil` without limit.
        public struct Rates: Hashable, Sendable {
            /// Of attachments that are sent.
            public var upload: UInt64?
            /// Of all that is received.
            public var download: UInt64?

            /// Rates.
            public init(upload: UInt64? = nil, download: UInt64? = nil) {
                self.upload = upload
                self.download = download
            }
        }

        /// How fast an engine sends and receives.
        public struct Limits: Hashable, Sendable {
            /// All connections together.
            public var whole = Rates()
            /// Whether connections on the local network count among them.
            public var limitsLAN = false
            /// All connections of a device, wherever it is.
            public var peers: [DeviceID: Rates] = [:]

            /// No limits.
            public init() {}
        }

        /// TCP alone: `.init(listen: "127.0.0.1:4041")`, `.init(connect: ["nas:4040"])`.
        public init(
            listen: String? = nil, isPortFixed: Bool = true, connect: [String] = [],
            announced: [String]? = nil
        ) {
            self.init(transports: [
                TCPTransport(
                    listen: listen, isPortFixed: isPortFixed, connect: connect,
                    announced: announced)
            ])
        }

        /// All transports: the local network, TCP at port 4040 of every interface or the next free
        /// one, and WebSockets that members publish. Dials `connect`, by what each address is for.
        public static func everywhere(connect: [String] = []) -> Network {
            let isWebSocket = { (address: String) in WebSocketTransport().canDial(address) }
            return Network(transports: [
                LANTransport(),
                TCPTransport(
                    listen: "[::]:4040", isPortFixed: false,
                    connect: connect.filter { !isWebSocket($0) }),
                WebSocketTransport(connect: connect.filter(isWebSocket)),
            ])
        }

        /// Listens at port 4040 of this host for its own programs, or the next free one, and
        /// dials `connect`.
        public static func thisHost(connect: [String] = []) -> Network {
            Network(listen: "127.0.0.1:4040", isPortFixed: false, connect: connect)
        }

        /// Neither listens nor dials.
        public static let offline = Network(transports: [])

        /// The same, with nothing beyond this host and its links where `isLocalOnly`.
        ///
        /// Throws `invalid` for settings that mean nothing and for two transports of one name, and
        /// `notLocal`.
        func checked(isLocalOnly: Bool) throws -> Network {
            var names: Set<String> = []
            for transport in transports where !names.insert(transport.name).inserted {
                throw ChuteError(
                    .invalid, "the transport \(transport.name) is given twice: leave one out")
            }
            var network = self
            network.transports = try transports.map { transport in
                try transport.check()
                var transport = transport
                if isLocalOnly { try transport.stayLocal() }
                return transport
            }
            return network
        }

        public static func == (one: Network, other: Network) -> Bool {
            one.hashables == other.hashables
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(hashables) }

        private var hashables: [AnyHashable] {
            transports.map { AnyHashable($0) } + [AnyHashable(limits), AnyHashable(allowed)]
        }

        func allows(_ transport: String, for device: DeviceID) -> Bool {
            allowed[device]?.contains(transport) ?? true
        }
    }
}

extension SocketAddress {
    /// Throws `notLocal` for whatever is not loopback or link-local by its number, or called
    /// `localhost`: what that stands for is looked at when it is used.
    func checkIsLocal() throws {
        guard isOfThisLink || host.lowercased() == "localhost" else {
            throw ChuteError(
                .notLocal,
                "\(self) is beyond this host and link, and a development identity has no "
                    + "security: use a loopback or link-local address, or another identity")
        }
    }
}
