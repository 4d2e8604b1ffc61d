package import ChuteSystem

/// Where one agent keeps its things.
///
/// With `--home` or `CHUTE_HOME` everything lies in that folder; without, the XDG folders of the
/// user hold it. Only names are made here: nothing is created.
package struct Home: Hashable, Sendable {
    /// The folder given by `--home` or `CHUTE_HOME`, absolute; `nil` for the user's XDG folders.
    package let folder: BytePath?
    /// The file a person edits.
    package let configurationFile: BytePath
    /// Database, key, lock and blobs; 0700.
    package let stateFolder: BytePath
    /// Live progress only; may vanish between two starts.
    package let runtimeFolder: BytePath
    /// What `~` and `$HOME` stand for in the configuration; `nil` where nobody knows.
    package let userFolder: BytePath?
    /// Inbox and outbox where nothing else is told, as the configuration says them.
    package let standardInbox: String
    package let standardOutbox: String

    package var databaseFile: BytePath { stateFolder.appending("chute.db") }
    package var keyFile: BytePath { stateFolder.appending("device.key") }
    package var lockFile: BytePath { stateFolder.appending("chute.lock") }
    /// Touched by the command line; the agent looks again when it changes.
    package var nudgeFile: BytePath { stateFolder.appending("nudge") }
    package var blobsFolder: BytePath { stateFolder.appending("blobs") }

    /// There is no folder to put things in.
    package struct LocationError: Error, CustomStringConvertible {
        package let description: String
    }

    /// Finds the home of an agent.
    ///
    /// `given` is the value of `--home`, `currentFolder` what relative paths start at. An XDG
    /// variable with a relative path is ignored, as the XDG specification wants. A folder that
    /// exists is named by its real path, so that all programs find the same runtime folder.
    package static func locate(
        _ given: BytePath?, environment: ProcessEnvironment, currentFolder: BytePath
    ) throws(LocationError) -> Home {
        let userFolder = environment.homeFolder
        let runtime = environment.absolute("XDG_RUNTIME_DIR")?.appending("chute")
        if let given = given ?? environment["CHUTE_HOME"] {
            if given.bytes.contains(0) || given.isEmpty {
                throw LocationError(description: "--home needs the path of a folder")
            }
            let place = given.absolute(from: currentFolder)
            let folder = place.real ?? place
            let state = folder.appending("state")
            return Home(
                folder: folder, configurationFile: folder.appending("chute.toml"),
                stateFolder: state, runtimeFolder: runtime?.appending(folder.shortHash) ?? state,
                userFolder: userFolder, standardInbox: "inbox", standardOutbox: "outbox")
        }
        let configuration =
            environment.absolute("XDG_CONFIG_HOME") ?? userFolder?.appending(".config")
        let data = environment.absolute("XDG_DATA_HOME") ?? userFolder?.appending(".local/share")
        guard let configuration, let data else {
            throw LocationError(
                description: "no home folder is known for this user: set HOME or give --home DIR")
        }
        let state = data.appending("chute")
        return Home(
            folder: nil, configurationFile: configuration.appending("chute/chute.toml"),
            stateFolder: state, runtimeFolder: runtime ?? state, userFolder: userFolder,
            standardInbox: "~/Pics/inbox", standardOutbox: "~/Pics/outbox")
    }
}

extension ProcessEnvironment {
    fileprivate func absolute(_ name: String) -> BytePath? {
        guard let path = self[name], path.isAbsolute else { return nil }
        return path
    }
}

extension BytePath {
    /// This path from the top, without `.` and empty components; `..` is kept, since what it
    /// leads to is for the file system to say.
    package func absolute(from folder: BytePath) -> BytePath {
        let whole = isAbsolute ? self : folder.appending(self)
        let names = whole.components.filter { $0 != [UInt8(ascii: ".")] }
        return BytePath(bytes: [Self.separator] + BytePath(components: names).bytes)
    }

    /// FNV-1a in hexadecimal: short enough for socket paths, and no secret.
    fileprivate var shortHash: String {
        let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
