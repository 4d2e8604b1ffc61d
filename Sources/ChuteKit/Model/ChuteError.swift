/// What failed, on what, and what to do about it.
public struct ChuteError: Error, Sendable, CustomStringConvertible {
    /// Why; codes are added over time.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as it appears in logs.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The store's directory is in use by another engine.
        public static let heldElsewhere = Code("held-elsewhere")
        /// The database is of a later version.
        public static let storeIsNewer = Code("store-is-newer")
        /// The database is damaged; nothing was changed.
        public static let storeIsDamaged = Code("store-is-damaged")
        /// A file or folder cannot be used.
        public static let file = Code("file")
        /// The device key was copied from elsewhere, or is not a key.
        public static let deviceKey = Code("device-key")
        /// The arguments do not fit each other or the state.
        public static let invalid = Code("invalid")
        /// Not allowed in this space or for this role.
        public static let notAllowed = Code("not-allowed")
        /// No peer could be reached.
        public static let unreachable = Code("unreachable")
        /// The other side said no.
        public static let refused = Code("refused")
        /// The ticket is past its time.
        public static let ticketExpired = Code("ticket-expired")
        /// The ticket has no use left.
        public static let ticketUsedUp = Code("ticket-used-up")
        /// The ticket was taken back by its maker.
        public static let ticketRevoked = Code("ticket-revoked")
        /// Another device answers than the one that made the ticket.
        public static let wrongDevice = Code("wrong-device")
        /// This device is in a space with others already.
        public static let alreadyInSpace = Code("already-in-space")
        /// There is a document of this id already, or something has that name: it was left.
        public static let alreadyExists = Code("already-exists")
        /// A document, an attachment or its metadata is over its limit.
        public static let tooLarge = Code("too-large")
        /// What the store has cannot be read.
        public static let cannotRead = Code("cannot-read")
        /// No such document, member, ticket or file.
        public static let notFound = Code("not-found")
        /// A file is no picture that can be opened, is damaged, or asks for more than it may use.
        public static let picture = Code("picture")
        /// A program that the system has to provide is missing.
        public static let missingProgram = Code("missing-program")
        /// The directory was made with another identity than it is opened with.
        public static let wrongIdentity = Code("wrong-identity")
        /// The folder that is to hold the engine's directory does not exist.
        public static let missingDirectory = Code("missing-directory")
        /// Something else than a directory has the name of the engine's directory.
        public static let notADirectory = Code("not-a-directory")
        /// The engine's directory may not be written.
        public static let notWritable = Code("not-writable")
        /// The engine's directory lies on a network file system.
        public static let networkFileSystem = Code("network-file-system")
        /// The engine is closed.
        public static let closed = Code("closed")
        /// The engine replicates already, by another call.
        public static let alreadySyncing = Code("already-syncing")
        /// A development engine has nothing to do with addresses beyond its host and link.
        public static let notLocal = Code("not-local")
        /// The only owner of a space with others leaves.
        public static let onlyOwner = Code("only-owner")
        /// The file may not be read, written or removed.
        public static let permission = Code("permission")
        /// A folder, link, pipe, socket or device: only regular files are taken.
        public static let notRegularFile = Code("not-regular-file")
        /// The disk is full.
        public static let noSpace = Code("no-space")
        /// The quota of the user, or the limit of the engine, is reached.
        public static let overQuota = Code("over-quota")
        /// The file is being written: its bytes were never the same from start to end.
        public static let changing = Code("changing")
        /// The bytes are not on this device, or not any more.
        public static let absent = Code("absent")
        /// Bytes that are not those that their name says.
        public static let hashMismatch = Code("hash-mismatch")
    }

    /// Why.
    public let code: Code
    /// One sentence: what failed, on which file or peer, what to do.
    public let message: String
    /// Whether the same may work later.
    public let isTransient: Bool
    /// What lies beneath.
    public let cause: (any Error)?

    /// An error with its sentence.
    public init(
        _ code: Code, _ message: String, isTransient: Bool = false, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.isTransient = isTransient
        self.cause = cause
    }

    static let closed = ChuteError(
        .closed, "the engine is closed: open its directory again to go on")

    /// The sentence, with the cause where there is one.
    public var description: String { cause.map { "\(message): \($0)" } ?? message }
}
