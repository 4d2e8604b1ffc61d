package import ChuteSystem
import Glibc

extension Configuration {
    /// Nobody writes a longer one by hand.
    private static let greatestLength: UInt64 = 1 << 20

    /// Reads and checks a configuration; `nil` where there is no such file. Blocks.
    ///
    /// Throws `ConfigurationError`, and `SystemError` where the file cannot be read.
    package static func load(
        _ file: BytePath, userFolder: BytePath?, stateFolder: BytePath? = nil
    ) throws -> Configuration? {
        do {
            return try ConfigurationReader.read(
                try text(of: file), file: file, userFolder: userFolder, stateFolder: stateFolder)
        } catch let error as SystemError where error.isNotFound {
            return nil
        }
    }

    static func text(of file: BytePath) throws -> [UInt8] {
        // Not blocking, lest something strange of that name holds the agent up.
        let descriptor = try FileDescriptor.open(file, O_RDONLY | O_NONBLOCK)
        let status = try descriptor.status()
        guard status.kind == .regular, status.size <= greatestLength else {
            let problem = ConfigurationProblem(
                position: .start, message: "no file of at most 1 MiB, expected a TOML text")
            throw ConfigurationError(file: file, problems: [problem])
        }
        return try descriptor.read(count: Int(status.size), at: 0)
    }

    /// Reads the configuration of a home; `nil` where there is none yet.
    package static func load(_ home: Home) throws -> Configuration? {
        try LoadedConfiguration(home)?.configuration
    }
}
