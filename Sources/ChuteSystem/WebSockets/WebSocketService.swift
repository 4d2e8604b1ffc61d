import Glibc
import Synchronization

/// The thread on which all WebSockets of the process live, and what others may ask of it.
///
/// A connection is pumped to one end of a socket pair; whoever has the other end reads and
/// writes it as any socket.
///
/// ## Concurrency
/// Everything of libwebsockets belongs to the thread of `WebSocketLoop`, which starts with the
/// first use. What is asked crosses in `WebSocketJobs`.
package final class WebSocketService: Sendable {
    /// The program's.
    package static let shared = WebSocketService()

    private let limits: WebSocketLimits
    private let environment: ProcessEnvironment
    private let proxies: ProxySettings
    private let running = Mutex<WebSocketJobs?>(nil)

    /// Proxies and the file of trusted certificates (`SSL_CERT_FILE`) are the environment's.
    package init(
        limits: WebSocketLimits = WebSocketLimits(), environment: ProcessEnvironment = .current
    ) {
        self.limits = limits
        self.environment = environment
        proxies = ProxySettings(environment)
    }

    /// Ends the thread, and all connections with it.
    deinit { running.withLock { $0?.end() } }

    /// Connects; the end of a pair, non-blocking, whose other end is the WebSocket.
    ///
    /// Tries each address of the host in turn, each for as long as the limits give a handshake.
    /// Where it `staysLocal`, no proxy is used and no address beyond this host and its links.
    /// Throws `WebSocketError` or `CancellationError`.
    package func connect(
        to url: WebSocketURL, staysLocal: Bool = false
    ) async throws -> FileDescriptor {
        let proxy = staysLocal ? nil : try proxies.proxy(for: url)
        let first = proxy?.address ?? url.address
        var candidates = try await addresses(of: first)
        if staysLocal { candidates.removeAll { !$0.isOfThisLink } }
        var failure = WebSocketError(.unreachable, "\(first.host) has no address")
        for candidate in candidates {
            let way = WebSocketLoop.Way(url: url, address: candidate, proxy: proxy)
            do {
                return try await dial(way)
            } catch let error as WebSocketError {
                failure = error
                // Who answered answers alike at the others.
                guard [.unreachable, .timedOut].contains(error.kind) else { throw error }
            }
        }
        throw failure
    }

    private func addresses(of host: SocketAddress) async throws -> [SocketAddress] {
        do {
            return try await NameLookup.own.numericAddresses(of: host)
        } catch let error as ResolutionError {
            throw WebSocketError(.unreachable, "\(error)")
        }
    }

    private func dial(_ way: WebSocketLoop.Way) async throws -> FileDescriptor {
        try Task.checkCancellation()
        let attempt = WebSocketAttempt()
        let limit = limits.handshake
        let abandon: @Sendable (WebSocketError) -> Void = { [weak self] error in
            attempt.resolve(.failure(error))
            // Where there is no loop any more, there is no connection.
            _ = try? self?.perform { $0.abandon(attempt) }
        }
        let alarm = Alarm {
            abandon(WebSocketError(.timedOut, "\(way.address) gave no answer within \(limit)"))
        }
        defer { alarm.cancel() }
        let outcome = try await withTaskCancellationHandler {
            try perform { $0.dial(way, attempt) }
            alarm.set(after: limit)
            return await attempt.result()
        } onCancel: {
            abandon(WebSocketError(.closed, "cancelled"))
        }
        switch outcome {
        case .success(let descriptor): return FileDescriptor(owning: descriptor)
        case .failure(let error):
            try Task.checkCancellation()
            throw error
        }
    }

    /// How many connections there are, those that shake hands included.
    package func connectionCount() async throws(WebSocketError) -> Int {
        guard running.withLock({ $0 != nil }) else { return 0 }
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Int, WebSocketError>, Never>) in
            do throws(WebSocketError) {
                try perform { continuation.resume(returning: .success($0.connections.count)) }
            } catch { continuation.resume(returning: .failure(error)) }
        }
        return try result.get()
    }

    /// Has something done on the thread, which starts where there is none. Throws where the
    /// system has too little for that.
    func perform(_ job: @escaping WebSocketJobs.Job) throws(WebSocketError) {
        try running.withLock { running throws(WebSocketError) in
            if let running, running.add(job) { return }
            // There was none, or it ended by itself.
            let started = try start()
            running = started
            guard started.add(job) else { throw WebSocketError(.closed, "WebSockets have ended") }
        }
    }

    private func start() throws(WebSocketError) -> WebSocketJobs {
        let jobs = WebSocketJobs()
        let loop = try WebSocketLoop(limits, environment)
        jobs.begin(loop.context)
        nonisolated(unsafe) let handedOver = loop  // the thread's alone from here on
        do throws(SystemError) {
            pthread_detach(try WorkThread.start("chute.websocket") { handedOver.run(jobs) })
        } catch {
            _ = jobs.hasEnded()  // nobody has it yet
            loop.destroy()
            throw WebSocketError(.library, error.description)
        }
        return jobs
    }
}
