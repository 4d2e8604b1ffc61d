import ChuteSystem

extension Chute {
    /// How the devices of a space know each other. All of it is encrypted.
    public struct Identity: Hashable, Sendable, CustomStringConvertible {
        enum Kind: Hashable, Sendable {
            case paired
            case sharedKey(SharedKey)
            case appKey(appID: String, SharedKey)
            case development(appName: String)
        }

        let kind: Kind

        /// By tickets: each device is admitted by an owner. See `invite` and `join`.
        public static let paired = Identity(kind: .paired)

        /// Whoever holds the key is a member. For one application alone: others that are given
        /// the same key share with this one.
        public static func sharedKey(_ key: SharedKey) -> Identity {
            Identity(kind: .sharedKey(key))
        }

        /// Whoever holds the key and says the same `appID`, 1 to 255 bytes, is a member; another
        /// application with the same key never is. Two ids are the same where their bytes are.
        public static func sharedKey(appID: String, key: SharedKey) -> Identity {
            Identity(kind: .appKey(appID: appID, key))
        }

        /// Every engine that says the same `appName`, 1 to 255 bytes, is a member: no security at
        /// all, for development.
        ///
        /// Such an engine listens at, takes connections from and dials loopback and link-local
        /// addresses alone, and warns each time it is opened.
        public static func development(appName: String) -> Identity {
            Identity(kind: .development(appName: appName))
        }

        /// The kind, and never a key.
        public var description: String {
            switch kind {
            case .paired: "paired"
            case .sharedKey: "a shared key"
            case .appKey(let appID, _): "a shared key for the app \"\(appID)\""
            case .development(let appName): "development of the app \"\(appName)\""
            }
        }

        /// The key that members prove to hold; `nil` where they are admitted one by one.
        var key: SharedKey? {
            switch kind {
            case .paired: nil
            case .sharedKey(let key): key
            case .appKey(let appID, let key): key.forApp(appID)
            case .development(let appName): .development(appName)
            }
        }

        var isDevelopment: Bool { if case .development = kind { true } else { false } }

        private static let nameLimit = 255

        /// Throws `invalid` for a name that is none.
        func check() throws {
            let name: String
            switch kind {
            case .paired, .sharedKey: return
            case .appKey(let appID, _): name = appID
            case .development(let appName): name = appName
            }
            guard (1...Self.nameLimit).contains(name.utf8.count) else {
                throw ChuteError(
                    .invalid,
                    "an application's name has 1 to \(Self.nameLimit) bytes, not "
                        + "\(name.utf8.count): give it another one")
            }
        }
    }
}
