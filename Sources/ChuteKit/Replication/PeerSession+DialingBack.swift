import ChuteSystem

/// Asking the peer to dial an address of this device, and dialling for it.
extension PeerSession {
    typealias DialBackWaiter = CheckedContinuation<DialedBack.Word?, Never>

    private static let dialBackLimit = 4

    /// What the peer found at an address; `nil` where the session ends or the task is cancelled
    /// before it answers.
    func dialBack(_ address: String) async -> DialedBack.Word? {
        guard dialBackWaiters != nil, address.utf8.count <= DialBack.addressLimit else {
            return nil
        }
        nextQuestion &+= 1
        let number = nextQuestion
        do {
            try send(.dialBack, DialBack(number: number, address: address).cbor)
        } catch {
            channel.close()  // the reader ends the session
            return nil
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                // The session may have ended since it was asked.
                guard dialBackWaiters != nil else { return waiter.resume(returning: nil) }
                dialBackWaiters?[number] = waiter
                if Task.isCancelled { giveUpDialBack(number) }
            }
        } onCancel: {
            enqueue { $0.giveUpDialBack(number) }
        }
    }

    func receive(_ answer: DialedBack) {
        dialBackWaiters?.removeValue(forKey: answer.number)?.resume(returning: answer.word)
    }

    private func giveUpDialBack(_ number: UInt32) {
        dialBackWaiters?.removeValue(forKey: number)?.resume(returning: nil)
    }

    /// When the session ends: nobody waits any longer.
    func giveUpDialBacks() {
        let open = dialBackWaiters ?? [:]
        dialBackWaiters = nil
        for waiter in open.values { waiter.resume(returning: nil) }
    }

    func receive(_ request: DialBack) throws {
        guard openDialBacks < Self.dialBackLimit else {
            return try send(
                .dialedBack, DialedBack(number: request.number, word: .notTried).cbor)
        }
        openDialBacks += 1
        dialBacks.post(request)
    }

    /// Dials what is asked for, one after the other.
    func answerDialBacks() async throws {
        guard let peer else { return }
        let source = isDirect ? SocketAddress(address) : nil
        while true {
            let asked = await dialBacks.next()
            if asked.isEmpty { return }
            for request in asked {
                let word = await context.dialingBack.word(
                    on: request.address, for: peer, source: source, context.tls,
                    context.diagnostics)
                openDialBacks -= 1
                try send(.dialedBack, DialedBack(number: request.number, word: word).cbor)
            }
        }
    }
}
