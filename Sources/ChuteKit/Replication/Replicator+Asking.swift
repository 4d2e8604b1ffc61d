import ChuteSystem

/// What connected devices are asked and have said.
extension Replicator {
    private static let answerTimeout = Duration.seconds(10)
    /// The other end has 10 s to dial.
    private static let dialBackTimeout = Duration.seconds(15)

    /// Which of `devices` say now that they have which of `attachments` in a kept folder.
    func keepers(
        of attachments: [AttachmentID], among devices: Set<DeviceID>
    ) async -> [AttachmentID: Set<DeviceID>] {
        let asked = registry.entries.compactMap { device, entry in
            devices.contains(device) ? sessions[entry.number].map { (device, $0) } : nil
        }
        return await withTaskGroup(of: (DeviceID, Set<AttachmentID>).self) { group in
            for (device, session) in asked {
                group.addTask {
                    do {
                        return try await withTimeout(Self.answerTimeout) {
                            (device, await session.confirm(attachments))
                        }
                    } catch {
                        return (device, [])  // no answer is no word
                    }
                }
            }
            var keepers: [AttachmentID: Set<DeviceID>] = [:]
            for await (device, kept) in group {
                for attachment in kept { keepers[attachment, default: []].insert(device) }
            }
            return keepers
        }
    }

    /// Who is connected and what it says about an address.
    func lookers(at address: String) async -> [DeviceID: Reachability] {
        let asked = registry.entries.compactMap { device, entry in
            sessions[entry.number].map { (device, $0) }
        }
        let now = ContinuousClock.now - clockStart
        for (device, _) in asked { askedDialBacks.note(device, now: now) }
        let isPublic = SocketAddress(address)?.isPublic ?? false
        return await withTaskGroup(of: (DeviceID, DialedBack.Word?).self) { group in
            for (device, session) in asked {
                group.addTask {
                    do {
                        return try await withTimeout(Self.dialBackTimeout) {
                            (device, await session.dialBack(address))
                        }
                    } catch {
                        return (device, nil)  // no answer is no word
                    }
                }
            }
            var found: [DeviceID: Reachability] = [:]
            for await (device, word) in group {
                found[device] = askedDialBacks.meaning(
                    of: word, from: device, isPublic: isPublic)
            }
            return found
        }
    }

    /// Ends all sessions; those who dial do so again.
    func endAll(_ reason: GoodbyeReason) async {
        for session in sessions.values { await session.end(reason) }
    }

    /// By how many milliseconds the clocks of connected devices are ahead of this one's.
    func clockLeads() async -> [DeviceID: Int64] {
        var leads: [DeviceID: Int64] = [:]
        for (device, entry) in registry.entries {
            leads[device] = await sessions[entry.number]?.clockLead
        }
        return leads
    }
}
