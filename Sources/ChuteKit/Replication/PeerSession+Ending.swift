import ChuteSystem

/// Signs of life, and last words.
extension PeerSession {
    func reason(_ payload: UnsafeRawBufferPointer) throws -> GoodbyeReason {
        GoodbyeReason(try CBOR.decode(payload)[0]?.textValue ?? "unknown")
    }

    func goodbye(_ reason: GoodbyeReason) throws {
        try channel.send(.goodbye, .map([0: .text(reason.description)]))
    }

    /// Says goodbye and ends the session. To whom has not proved itself, nothing is said.
    func end(_ reason: GoodbyeReason) {
        guard ending == nil else { return }
        ending = reason
        if peer != nil {
            do { try goodbye(reason) } catch {
                context.diagnostics.debug("\(address): no goodbye: \(error)")
            }
        }
        channel.close()
        wakeups.close()
    }

    /// Says goodbye to a peer that may be in the middle of sending, and ends once it has heard it,
    /// or after `limit`: what is closed with unread bytes takes back the last word.
    func refuse(_ reason: GoodbyeReason, within limit: Duration = .seconds(10)) async {
        guard ending == nil else { return }
        do {
            try goodbye(reason)
            try await withTimeout(limit) { try await self.discardAll() }
        } catch {
            context.diagnostics.debug("\(address): \(reason): \(error)")
        }
        ending = reason
        channel.close()
        wakeups.close()
    }

    private func discardAll() async throws { while try await channel.next() != nil {} }

    /// The goodbye of a peer that hung up, where what was sent to it met that before the reader
    /// came to it.
    func lastWord(before error: any Error) -> SessionEnd? {
        guard error is OpenSSLError else { return nil }
        do {
            while let frame = try channel.nextAtHand() {
                guard case .known(.goodbye, let payload) = frame else { continue }
                return .refused(try reason(payload))
            }
        } catch {
            context.diagnostics.debug("\(address): no last word: \(error)")
        }
        return nil
    }

    /// Whether any byte of the peer comes within `limit`, asked for by a ping.
    func isAlive(within limit: Duration) async -> Bool {
        let before = channel.lastReceived
        do {
            try send(.ping, .map([:]))
            let sent = channel.bytesSent
            let step = limit / 20
            for _ in 0..<20 {
                if channel.lastReceived > before { return true }
                // What waited is taken: the ping is behind it, on its way.
                if channel.hasUnsent, channel.bytesSent > sent { return true }
                try await Task.pause(for: step)
            }
        } catch { return false }
        return channel.lastReceived > before
    }

    /// Any byte is a sign of life; without one for 90 s the peer is gone.
    func keepAlive() async throws {
        while true {
            try await Task.pause(for: .seconds(30), tolerance: .seconds(10))
            guard ContinuousClock.now - channel.lastReceived < .seconds(90) else {
                throw ChuteError(.unreachable, "\(address) fell silent", isTransient: true)
            }
            try send(.ping, .map([1: .unsigned(StoreWriter.milliseconds())]))
        }
    }
}
