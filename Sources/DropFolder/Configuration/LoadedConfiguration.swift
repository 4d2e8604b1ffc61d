import ChuteSystem

/// A configuration with the text that says it.
package struct LoadedConfiguration: Sendable {
    package let text: [UInt8]
    package let configuration: Configuration

    /// Reads and checks the configuration of a home; `nil` where there is none yet. Blocks.
    ///
    /// Throws `ConfigurationError`, and `SystemError` where the file cannot be read.
    package init?(_ home: Home) throws {
        do {
            try self.init(try Configuration.text(of: home.configurationFile), home)
        } catch let error as SystemError where error.isNotFound {
            return nil
        }
    }

    /// Checks the text of a configuration. Throws `ConfigurationError`.
    package init(_ text: [UInt8], _ home: Home) throws {
        self.text = text
        configuration = try ConfigurationReader.read(
            text, file: home.configurationFile, userFolder: home.userFolder,
            stateFolder: home.stateFolder)
    }
}
