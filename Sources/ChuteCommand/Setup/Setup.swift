import ChuteSystem
import DropFolder
import Glibc

/// Makes a home: folders, device key, and last the configuration, whose presence says that all
/// is there.
struct Setup {
    let context: CommandContext
    var values = ConfigurationWriter.Values()

    enum Outcome {
        case made(Configuration, madeSharedKey: Bool)
        case alreadyThere(Configuration)
    }

    private var file: BytePath { context.home.configurationFile }

    /// Sets up what is missing and leaves what is there as it is.
    ///
    /// Throws 73 where an existing configuration says otherwise than `values`.
    func run() throws -> Outcome {
        if let existing = try context.configuration() { return try keep(existing) }
        let text = try ConfigurationWriter.text(values, home: context.home)
        let configuration = try checked(text)
        let madeSharedKey = try prepare(configuration)
        do {
            try NewFile.makeFolders(file.parent)
            try NewFile.write(text, to: file, mode: 0o666)
        } catch {
            guard error.exists else { throw error }
            return try keep(context.requiredConfiguration())  // another one was faster
        }
        return .made(configuration, madeSharedKey: madeSharedKey)
    }

    /// The configuration that `text` makes. A wrong value comes from the command line; folders
    /// that lie in each other are a wrong configuration, as they are to `run`.
    private func checked(_ text: [UInt8]) throws -> Configuration {
        do {
            return try ConfigurationReader.read(
                text, file: file, userFolder: context.home.userFolder,
                stateFolder: context.home.stateFolder)
        } catch {
            let problems = error.problems.map(\.message).joined(separator: "; ")
            throw CommandError(
                error.problems.allSatisfy(\.isOverlap) ? .configuration : .usage,
                "nothing is set up: \(problems)")
        }
    }

    private func keep(_ existing: Configuration) throws -> Outcome {
        if let conflict = conflict(with: existing) {
            throw CommandError(
                .exists,
                "already set up at \(file) with another \(conflict): edit that file, "
                    + "or give another --home")
        }
        // A configuration may have been put there by hand before anything else.
        let hasKey = try exists(context.home.keyFile)
        if !hasKey { _ = try prepare(existing) }
        return .alreadyThere(existing)
    }

    private func exists(_ path: BytePath) throws -> Bool {
        do throws(SystemError) {
            _ = try FileStatus.of(path)
            return true
        } catch {
            if error.isNotFound { return false }
            throw error
        }
    }

    /// Makes folders and keys; `true` if a shared key was made.
    private func prepare(_ configuration: Configuration) throws -> Bool {
        let state = context.home.stateFolder
        do {
            try NewFile.makeFolders(state.parent)
            try NewFile.makeFolders(state, mode: 0o700)
            guard state.withCString({ chmod($0, 0o700) }) == 0 else {
                throw SystemError.current("chmod", state)
            }
            for folder in configuration.folders {
                for root in [folder.inbox, folder.outbox].compactMap({ $0 }) {
                    try NewFile.makeFolders(root)
                }
            }
        } catch let error as SystemError {
            throw CommandError(
                .failed,
                "the folder \(error.path ?? state) cannot be made: \(error.reason)")
        }
        let madeSharedKey = try configuration.device.sharedKey.map(SharedKeyFile.prepare) ?? false
        if try !exists(context.home.keyFile) { _ = try context.keys.create(context.home.keyFile) }
        return madeSharedKey
    }

    /// What of `values` the existing configuration has otherwise, as the option that set it.
    private func conflict(with existing: Configuration) -> String? {
        let folder = existing.folders.first
        if let name = values.name, name != existing.deviceName { return "--name" }
        if let inbox = values.inbox, inbox != folder?.inbox { return "--inbox" }
        if let outbox = values.outbox, outbox != folder?.outbox { return "--outbox" }
        if let layout = values.layout, layout != folder?.layout.description { return "--layout" }
        if let key = values.sharedKey, key != existing.device.sharedKey { return "--shared-key" }
        if let listen = values.listen {
            let configured: String? =
                switch existing.tcp.listen {
                case .standard: nil
                case .at(let endpoint): endpoint.description
                case .off: ""
                }
            if listen != configured { return "--listen" }
        }
        if let connect = values.connect, connect != existing.tcp.connect.map(\.description) {
            return "--connect"
        }
        return nil
    }
}
