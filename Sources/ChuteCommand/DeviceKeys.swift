import ChuteSystem
import DropFolder

/// How device keys are made and read; the file's contents are the library's business.
struct DeviceKeys: Sendable {
    /// Makes a key at a path where there is none, 0600 and synced, and returns the device's id.
    var create: @Sendable (BytePath) throws -> String
    /// Reads the key at a path and returns the device's id.
    var load: @Sendable (BytePath) throws -> String
    /// Makes a new key for a copied home in place of the one that is there; takes the home's lock.
    var replace: @Sendable (Home) throws -> String
}
