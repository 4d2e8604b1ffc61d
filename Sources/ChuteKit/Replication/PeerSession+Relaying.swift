import ChuteSystem

/// Fetching for the other end what this device does not take, and asking for the same.
extension PeerSession {
    private static let wishLimit = 4096

    /// Asks the peer to fetch these; the fetcher hears who does not.
    nonisolated func askToRelay(_ wishes: [RelayWish]) {
        enqueue { session in
            for start in stride(from: 0, to: wishes.count, by: RelayWish.limit) {
                let part = wishes[start..<min(start + RelayWish.limit, wishes.count)]
                for wish in part { session.askedRelays[wish.attachment] = wish.number }
                do { try session.send(.relay, RelayWish.cbor(part)) } catch {
                    session.channel.close()  // the reader ends the session
                    return
                }
            }
        }
    }

    /// The numbers of questions that the peer says no to, among others.
    func receiveNoRelay(_ numbers: Set<UInt32>) {
        guard !askedRelays.isEmpty else { return }
        let refused = askedRelays.filter { numbers.contains($0.value) }.map(\.key)
        guard !refused.isEmpty else { return }
        for attachment in refused { askedRelays[attachment] = nil }
        context.fetcher.noRelay(of: refused, at: self)
    }

    func receiveWishes(_ wishes: [RelayWish]) throws {
        guard openWishes + wishes.count <= Self.wishLimit else {
            throw WireError.tooLarge("more than \(Self.wishLimit) wishes at once")
        }
        openWishes += wishes.count
        relayWishes.post(contentsOf: wishes)
    }

    func answerWishes() async throws {
        while true {
            let wishes = await relayWishes.next()
            if wishes.isEmpty { return }
            for wish in wishes {
                let isTaken = try await relay(wish.attachment)
                openWishes -= 1
                if isTaken {
                    // It may be here already.
                    hasNewChanges = true
                    wakeups.post(())
                } else {
                    try send(.absent, .array([.unsigned(UInt64(wish.number))]))
                }
            }
        }
    }

    private func relay(_ attachment: AttachmentID) async throws -> Bool {
        guard let peer, let view = currentView(), noteInterest(attachment) else { return false }
        return try await context.attachments.relay(attachment, for: peer, in: view.scope)
    }
}
