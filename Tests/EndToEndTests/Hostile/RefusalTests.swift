import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

/// Who is turned away gets the stated word, and leaves nothing behind.
@Suite(.timeLimit(.minutes(3)))
struct RefusalTests {
    /// Who comes.
    enum Visitor: CaseIterable, Sendable {
        /// Nobody knows its key.
        case stranger
        /// It has a ticket that somebody else used up.
        case usedTicket
        /// It was a member.
        case removedMember
        /// It proves by the shared key of another space.
        case otherSpace
        /// It begins a handshake, and sends nothing more.
        case slow
    }

    @Test(arguments: Visitor.allCases)
    func `whoever is no member is told why, a hundred times, and leaves nothing behind`(
        _ visitor: Visitor
    ) async throws {
        try await withOwner { owner, agent, port in
            let member = try DeviceKey.generate()
            let secret = try await secret(of: owner)
            try await enter(port, member, secret)
            if visitor == .removedMember { try await remove(member, from: owner) }
            var slow: [Int32] = []
            defer { for descriptor in slow { close(descriptor) } }
            // Who is slow comes with many others: how many there were at most shows after a while.
            let warmUp = visitor == .slow ? 150 : 30
            try await Steadiness.expect(of: [agent], warmUp: warmUp) { _ in
                switch visitor {
                case .stranger:
                    try await expect("not-a-member", at: port) { try await $0.enter() }
                case .usedTicket:
                    try await expect("ticket-used-up", at: port) {
                        try await $0.enter(secret: secret)
                    }
                case .removedMember:
                    try await expect("removed", at: port, key: member) { try await $0.enter() }
                case .otherSpace:
                    try await expect(nil, at: port) {
                        try await $0.enter(key: [UInt8](repeating: 7, count: 32))
                    }
                case .slow:
                    let stranger = try StrangerSocket(to: port)
                    _ = stranger.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3])
                    slow.append(stranger.release())
                    if slow.count > 20 { close(slow.removeFirst()) }
                }
            }
            #expect(try await owner.status().running)
            guard visitor != .removedMember else { return }
            try await RawPeer(at: "\(port.address)", key: member).enter()
        }
    }

    @Test func `a member of one space is nobody in another, which tells it nothing`() async throws {
        try await withAgentFolder { folder in
            let port = try FreePort.pair().0
            let home = try AgentHome("laptop", in: folder)
            let key = folder.appending("space.key")
            try await home.setUp("--listen", port.address, "--shared-key", key)
            try await withOwner { owner, _, ownersPort in
                let member = try DeviceKey.generate()
                try await enter(ownersPort, member, try await secret(of: owner))
                try await withAgents(home) { agents in
                    try await Steadiness.expect(of: agents) { _ in
                        try await expect(nil, at: port, key: member) {
                            try await $0.enter()
                        }
                    }
                    let right = try FileDescriptor.open(key, FileDescriptor.readOnly)
                        .read(count: 64, at: 0)
                    try await RawPeer(at: "\(port.address)", key: member).enter(key: right)
                }
            }
        }
    }

    @Test func `a hundred handshakes without a certificate leave nothing behind`() async throws {
        try await withOwner { owner, agent, port in
            try await WithoutCertificate.connect(30, to: port, as: owner)
            let before = try Steadiness([agent])
            try await WithoutCertificate.connect(100, to: port, as: owner)
            try await before.expect()
            #expect(try await owner.status().running)
        }
    }

    /// One owner whose agent runs.
    private func withOwner(
        _ body: (AgentHome, AgentProcess, FreePort) async throws -> Void
    ) async throws {
        try await withAgentFolder { folder in
            let port = try FreePort.pair().0
            let owner = try AgentHome("owner", in: folder)
            try await owner.setUp("--listen", port.address)
            try await withAgents(owner) { try await body(owner, $0[0], port) }
        }
    }

    /// The secret of a ticket that one device may use.
    private func secret(of owner: AgentHome) async throws -> [UInt8] {
        let line = try await owner.ticket()
        return try #require(line.string.flatMap { Ticket($0) }).secret
    }

    private func enter(_ port: FreePort, _ key: DeviceKey, _ secret: [UInt8]) async throws {
        let peer = try await RawPeer(at: "\(port.address)", key: key)
        try await peer.enter(secret: secret)
        try await peer.send(.goodbye, .map([0: .text("stopping")]))
        try await peer.awaitEnd()
    }

    private func remove(_ key: DeviceKey, from owner: AgentHome) async throws {
        let peer = try #require(try await owner.status().peers.first)
        let removed = try await owner.chute("peers", "remove", BytePath(peer.id))
        try #require(removed.exitCode == 0, "\(removed.error)")
    }

    /// A proof of a kind that the space does not take gets no word at all.
    private func expect(
        _ word: String?, at port: FreePort, key: DeviceKey? = nil,
        _ enter: (RawPeer) async throws -> Void
    ) async throws {
        let peer = try await RawPeer(at: "\(port.address)", key: key)
        await #expect(throws: (any Error).self) { try await enter(peer) }
        let heard = await peer.heard
        let text = "\(String(decoding: heard, as: UTF8.self))"
        #expect(word.map { heard.holds(Array($0.utf8)) } ?? heard.isEmpty, "\(text)")
    }
}
