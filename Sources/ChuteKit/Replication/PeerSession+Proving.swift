import ChuteSystem

/// Showing each other that both ends belong to the space.
extension PeerSession {
    /// Performs the handshake and exchanges the proofs. Nothing but the certificate is sent to
    /// a peer that is not known. Returns the peer; throws why it does not belong here, or why
    /// it does not let this device in.
    func prove() async throws -> DeviceID {
        try await channel.handshake()
        let other = DeviceID(publicKey: channel.peerPublicKey)
        guard other != context.store.device else {
            throw ChuteError(.wrongDevice, "\(address) is this device itself")
        }
        if side.isClient {
            try await proveAsClient(to: other)
        } else {
            try await proveAsServer(to: other)
        }
        channel.isProved = true
        peer = other
        return other
    }

    private func proveAsClient(to other: DeviceID) async throws {
        let own = context.store.device
        if case .joining(let ticket) = side {
            guard other == ticket.inviter else {
                throw ChuteError(
                    .wrongDevice, "at \(address) is another device than the one that invited")
            }
            try channel.send(.prove, Proof.ticket(ticket.secret).cbor)
            guard case .member = try await receiveProof() else {
                throw WireError.unexpected("a proof")
            }
            return
        }
        if let key = await context.store.sharedKey {
            let exporter = try channel.exporter()
            let mac = key.sessionProof(
                isClient: true, client: own, server: other, exporter: exporter)
            try channel.send(.prove, Proof.sharedKey(mac).cbor)
            let expected = key.sessionProof(
                isClient: false, client: own, server: other, exporter: exporter)
            guard case .sharedKey(let answer) = try await receiveProof(),
                SecretBytes.equal(answer, expected)
            else { throw ChuteError(.refused, "\(address) does not hold the shared key") }
            return
        }
        guard await context.store.membership.isMember(other) else {
            throw ChuteError(.refused, "the device at \(address) is not a member of this space")
        }
        guard await context.store.membership.mayTalk(own, other) else {
            throw ChuteError(
                .refused, "the device at \(address) is no owner, and who only sends talks to those")
        }
        pinned = other
        try channel.send(.prove, Proof.member.cbor)
        guard case .member = try await receiveProof() else { throw WireError.unexpected("a proof") }
    }

    private func proveAsServer(to other: DeviceID) async throws {
        let own = context.store.device
        switch (try await receiveProof(), await context.store.sharedKey) {
        case (.sharedKey(let mac), .some(let key)):
            let exporter = try channel.exporter()
            let expected = key.sessionProof(
                isClient: true, client: other, server: own, exporter: exporter)
            guard SecretBytes.equal(mac, expected) else {
                throw ChuteError(.refused, "\(address) does not hold the shared key")
            }
            let answer = key.sessionProof(
                isClient: false, client: other, server: own, exporter: exporter)
            try channel.send(.prove, Proof.sharedKey(answer).cbor)
        case (.ticket(let secret), .none):
            let refusal = try await context.store.write {
                try $0.redeemTicket(secret: secret, for: other)
            }
            if let refusal {
                try goodbye(refusal)
                throw ChuteError(.refused, "\(address) came with a ticket: \(refusal)")
            }
            try channel.send(.prove, Proof.member.cbor)
        case (.member, .none):
            guard await context.store.membership.isMember(other) else {
                let isOut = await context.store.membership.standings[other] != nil
                try goodbye(isOut ? .removed : .notMember)
                throw ChuteError(.refused, "\(address) is no member of this space")
            }
            guard await context.store.membership.mayTalk(own, other) else {
                try goodbye(.ownersOnly)
                throw ChuteError(.refused, "\(address) only sends, to owners alone")
            }
            try channel.send(.prove, Proof.member.cbor)
        default:
            throw ChuteError(.refused, "\(address) has another kind of proof")
        }
    }

    private func receiveProof() async throws -> Proof {
        switch try await channel.next() {
        case .known(.prove, let payload): return try Proof(cbor: CBOR.decode(payload))
        case .known(.goodbye, let payload): throw try SessionEnd.refused(reason(payload))
        case .none:
            throw ChuteError(
                .refused,
                "\(address) hung up before it let this device in: is it of the same space, and of the same app?"
            )
        case .known, .unknown: throw WireError.unexpected("a frame before the proof")
        }
    }
}
