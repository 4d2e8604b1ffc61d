import ChuteKit
package import ChuteSystem
import Synchronization

/// Everything that runs for one home: the engine, an ingestor for each inbox, a writer for each
/// outbox, and the answers to what the command line asks.
package final class Agent: Sendable {
    let chute: Chute
    let home: Home
    /// What it goes by; `apply` exchanges parts of it.
    var configuration: Configuration { current.withLock { $0.configuration } }
    let current: Mutex<Current>
    let folders: AgentFolders
    let log: Log
    let ingestors: [Int64: Ingestor]
    let writers: [Int64: OutboxWriter]

    /// Takes the home's lock and opens everything. Starts nothing.
    ///
    /// Throws `ChuteError` and `AgentError` with a sentence each.
    package static func open(
        home: Home, configuration: Configuration, isMoved: Bool = false, log: Log
    ) async throws -> Agent {
        let lock = try DirectoryLock(home.stateFolder)
        return try await open(
            lock, home: home, configuration: configuration, isMoved: isMoved, log: log)
    }

    static func open(
        _ lock: DirectoryLock, home: Home, configuration: Configuration, isMoved: Bool, log: Log
    ) async throws -> Agent {
        let key = try sharedKey(configuration)
        let isSure = key != nil || configuration.device.isPairedOnPurpose
        let chute: Chute
        do {
            chute = try await Chute.open(
                lock, identity: key.map { .sharedKey($0) } ?? .paired, mayChangeIdentity: isSure,
                isMoved: isMoved, network: configuration.chuteNetwork,
                diagnostics: diagnostics(log))
        } catch let error as ChuteError where error.code == .wrongIdentity && !isSure {
            throw ConfigurationError.lostKey(of: home)
        }
        try await chute.setRelayCache(byteCount: configuration.store.relayCache)
        let folders = try await AgentFolders(configuration, chute, log: log)
        try await folders.restOthers(chute)
        return try Agent(chute, home, configuration, folders, log)
    }

    private init(
        _ chute: Chute, _ home: Home, _ configuration: Configuration, _ folders: AgentFolders,
        _ log: Log
    ) throws {
        self.chute = chute
        self.home = home
        current = Mutex(Current(configuration: configuration))
        self.folders = folders
        self.log = log
        var ingestors: [Int64: Ingestor] = [:]
        var writers: [Int64: OutboxWriter] = [:]
        let promises = SpacePromises(outboxes: folders.all.compactMap { $0.outbox?.root })
        for folder in folders.all {
            if let inbox = folder.inbox {
                let watcher = InboxWatcher(
                    of: inbox, filter: folder.settings.filter, locks: folders.locks, log: log)
                let taker = InboxTaker(
                    chute: chute,
                    settings: .init(folder.settings, inbox, roots: folders.kinds), log: log
                ) { watcher.root }
                ingestors[inbox.root] = Ingestor(
                    chute: chute, folder: folder.settings,
                    retention: configuration.store.retention, root: inbox.root,
                    watcher: watcher, taker: taker, log: log)
            }
            if let outbox = folder.outbox {
                writers[outbox.root] = try OutboxWriter(
                    chute: chute, folder: folder.settings, peers: configuration.peers,
                    record: outbox, promises: promises, locks: folders.locks, log: log)
            }
        }
        self.ingestors = ingestors
        self.writers = writers
    }

    /// The key that a configuration names; `nil` for a paired device. Blocks.
    static func sharedKey(_ configuration: Configuration) throws -> SharedKey? {
        do throws(SharedKey.FileError) {
            return try configuration.device.sharedKey.map(SharedKey.read)
        } catch { throw AgentError(.configuration, error.description) }
    }

    private static func diagnostics(_ log: Log) -> Diagnostics {
        Diagnostics { level, message in
            switch level {
            case .warning: log.warning(message)
            case .notice: log.notice(message)
            case .debug: log.debug(message)
            }
        }
    }

    /// Runs until cancelled. Throws where the store fails; a new start finds what is on disk.
    package func run(ready: @escaping @Sendable () -> Void = {}) async throws {
        try await publishProfile()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.chute.run() }
            for ingestor in ingestors.values { group.addTask { try await ingestor.run() } }
            for writer in writers.values { group.addTask { try await writer.run() } }
            group.addTask { try await self.routeFetched() }
            group.addTask { try await self.answerRequests() }
            group.addTask { try await self.watchNudges() }
            ready()
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Ends the engine after `run` and frees the home and the folders. Throws where the lock cannot
    /// be given back.
    package func close() async throws {
        try await chute.close()
        folders.locks.releaseAll()
    }

    /// Hands what was fetched to the outbox that asked for it.
    private func routeFetched() async throws {
        while true {
            let outcomes = await chute.fetched()
            if outcomes.isEmpty { return }
            for (root, some) in Dictionary(grouping: outcomes, by: \.want.root) {
                writers[root]?.events.post(.fetched(some))
            }
        }
    }

    /// Says what this device is called and takes; where it can be dialled the engine says.
    func publishProfile() async throws {
        let (name, configuration) = (configuration.deviceName, configuration)
        try await chute.store.write { transaction in
            let known = try transaction.profile(of: transaction.device)
            try transaction.publish(
                DeviceProfile(
                    name: name, addresses: known?.addresses ?? [],
                    collections: configuration.folders.filter { $0.outbox != nil }
                        .map(\.collection)))
        }
    }

    /// The addresses for a ticket.
    func ticketAddresses() async throws -> [String] {
        let names = Set(configuration.chuteNetwork.transports.map(\.name))
        for _ in 0..<40 where await !names.isSubset(of: chute.transportStates.keys) {
            try await Task.pause(for: .milliseconds(50))
        }
        return await chute.ownAddresses
    }
}
