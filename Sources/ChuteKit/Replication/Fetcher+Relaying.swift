import ChuteSystem

/// Having connected devices fetch what no connected device has.
///
/// One is asked after the other, so that one copy is made on the way. A device that was asked does
/// not ask others in its turn: what it fetches for others comes from a device that has it.
extension Fetcher {
    /// So many are asked for at once.
    private static let relayLimit = 256
    private static let relayPause = Duration.seconds(30)

    /// Who is connected.
    var connectedPeers: Set<DeviceID> { Set(sessions.keys) }

    func isFetching(_ attachment: AttachmentID) -> Bool { transfers[attachment] != nil }

    /// Asks the next device for each of these that nobody has.
    func seekRelay(for attachments: some Sequence<AttachmentID>) {
        var wishes: [DeviceID: [RelayWish]] = [:]
        for attachment in attachments {
            guard relayOpen.count < Self.relayLimit else { break }
            guard relayOpen[attachment] == nil, transfers[attachment] != nil,
                planner.isStalled(attachment), !relays.contains(attachment)
            else { continue }
            let asked = relayAsked[attachment] ?? []
            let peer = sessions.keys.filter {
                !asked.contains($0) && !planner.restricted.contains($0)
            }.min()
            guard let peer else { continue }
            relayAsked[attachment, default: []].insert(peer)
            relayOpen[attachment] = peer
            wishes[peer, default: []].append(
                RelayWish(number: newNumber(), attachment: attachment))
        }
        for (peer, wishes) in wishes { sessions[peer]?.askToRelay(wishes) }
    }

    /// A device does not fetch these for others.
    nonisolated func noRelay(of attachments: [AttachmentID], at session: PeerSession) {
        enqueue { fetcher in
            guard let peer = fetcher.peer(of: session) else { return }
            for attachment in attachments where fetcher.relayOpen[attachment] == peer {
                fetcher.relayOpen[attachment] = nil
            }
            fetcher.seekRelay(for: attachments)
        }
    }

    /// A device is gone that was asked.
    func forgetRelay(_ peer: DeviceID) {
        for attachment in relayAsked.keys { relayAsked[attachment]?.remove(peer) }
        let open = relayOpen.filter { $0.value == peer }.keys
        for attachment in open { relayOpen[attachment] = nil }
    }

    /// Begins with the first device again, until cancelled: whoever has the bytes may have come to
    /// one of them since.
    func seekRelaysAgain() async throws {
        while true {
            try await Task.pause(for: Self.relayPause, tolerance: .seconds(10))
            let stalled = transfers.keys.filter { planner.isStalled($0) }
            for attachment in stalled {
                relayAsked[attachment] = nil
                relayOpen[attachment] = nil
            }
            seekRelay(for: stalled.sorted())
        }
    }
}
