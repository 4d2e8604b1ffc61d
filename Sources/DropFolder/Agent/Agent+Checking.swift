import ChuteKit
import ChuteSystem

/// Whether another agent can be opened in the place of this one.
extension Agent {
    /// Throws why no agent could be opened for another configuration, as far as that can be told
    /// while this one runs: its key, its folders and what they are marked as, who has them. Makes
    /// nothing. Blocks.
    func checkSuccessor(_ new: LoadedConfiguration) async throws {
        let problems = try ConfigurationProbe.look(
            at: new.text, home, .known(try await space(under: new.configuration))
        ).problems
        guard problems.isEmpty else {
            throw ConfigurationError(file: home.configurationFile, problems: problems)
        }
        for transport in new.configuration.chuteNetwork.transports { try transport.check() }
        try await folders.checkSuccessors(new.configuration, chute)
    }

    /// The space that a device with this configuration is in; `nil` for none. A key that cannot be
    /// read is for the probe to say.
    private func space(under new: Configuration) async throws -> SpaceID? {
        if new.device.sharedKey != nil { return (try? Self.sharedKey(new))?.space }
        return configuration.device.sharedKey == nil ? await chute.space : nil
    }
}

extension AgentFolders {
    /// Throws where a folder of another configuration could not be opened once those here are given
    /// back.
    fileprivate func checkSuccessors(_ new: Configuration, _ chute: Chute) async throws {
        for settings in new.folders {
            for (kind, path) in [
                (RootMark.Use.Kind.inbox, settings.inbox), (.outbox, settings.outbox),
            ] {
                guard let path else { continue }
                let key = FolderRecord.key(kind, path)
                let known = try await chute.store.read { try $0.row(FolderRecord.self, key) }
                try checkSuccessor(path, kind, known?.identity)
            }
        }
    }

    private func checkSuccessor(
        _ path: BytePath, _ kind: RootMark.Use.Kind, _ expected: RootIdentity?
    ) throws {
        let folder: Folder
        do throws(SystemError) {
            folder = try Folder(at: path)
        } catch {
            guard error.isNotFound else { throw error }
            // One that was there before is waited for.
            if expected == nil, !ConfigurationProbe.mayMake(path) {
                throw AgentError(
                    .configuration,
                    "the \(kind.rawValue) \(path) is not there, and this user cannot make it")
            }
            return
        }
        if try !locks.holds(folder), try FolderLock.isHeld(folder) { throw Self.isHeld(path) }
    }
}
