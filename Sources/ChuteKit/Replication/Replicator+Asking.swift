import ChuteSystem

/// What connected devices are asked and have said.
extension Replicator {
    private static let answerTimeout = Duration.seconds(10)

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
