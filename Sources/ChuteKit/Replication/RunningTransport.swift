/// One transport of an engine that replicates, from its start to its end.
final class RunningTransport: Sendable {
    let transport: any StreamTransport
    /// Opened for it to end.
    let stop = Gate()
    /// Open once nothing of it is left.
    let ended = Gate()

    var hasEnded: Bool { ended.isOpen }

    init(_ transport: any StreamTransport) { self.transport = transport }

    /// Runs it until `stop` is open or the task is cancelled.
    func run(_ host: TransportHost) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.transport.run(host) }
            group.addTask { await self.stopped() }
            await group.next()
            group.cancelAll()
        }
        ended.open()
    }

    private func stopped() async {
        await withTaskCancellationHandler {
            await stop.wait()
        } onCancel: {
            stop.open()
        }
    }
}
