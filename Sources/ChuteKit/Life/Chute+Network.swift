import ChuteSystem

extension Chute {
    /// What an engine listens to and dials.
    public struct Network: Hashable, Sendable {
        /// `host:port` to listen at; `nil` for none.
        public var listen: String?
        /// Whether `listen` was asked for by its port: then no other port is taken. Otherwise the
        /// next free one of a hundred is.
        public var isPortFixed: Bool
        /// Addresses that are dialled for as long as the engine replicates.
        public var connect: [String]
        /// What `startSync` tells the members of where they find this device, and tickets tell
        /// whoever joins; `nil` for where it listens.
        public var announce: [String]?

        /// Addresses to use: `.init(listen: "127.0.0.1:4041")`, `.init(connect: ["nas:4040"])`.
        public init(
            listen: String? = nil, isPortFixed: Bool = true, connect: [String] = [],
            announce: [String]? = nil
        ) {
            self.announce = announce
            self.listen = listen
            self.isPortFixed = isPortFixed
            self.connect = connect
        }

        /// Listens at port 4040 of every interface, or the next free one, and dials `connect`.
        public static func everywhere(connect: [String] = []) -> Network {
            Network(listen: "[::]:4040", isPortFixed: false, connect: connect)
        }

        /// Listens at port 4040 of this host for its own programs, or the next free one, and
        /// dials `connect`.
        public static func thisHost(connect: [String] = []) -> Network {
            Network(listen: "127.0.0.1:4040", isPortFixed: false, connect: connect)
        }

        /// Neither listens nor dials.
        public static let offline = Network()

        /// Throws `invalid` for what is no address and, for an engine that stays local, `notLocal`
        /// for one beyond its host and link.
        func check(isLocalOnly: Bool) throws {
            for text in [listen].compactMap(\.self) + connect + (announce ?? []) {
                guard let address = SocketAddress(text) else {
                    throw ChuteError(.invalid, "\(text) is not HOST:PORT")
                }
                if isLocalOnly { try address.checkIsLocal() }
            }
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
