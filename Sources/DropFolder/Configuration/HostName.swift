import Glibc

/// The name of this machine, fit to be a device's name.
package enum HostName {
    /// The first label of the host's name; "device" where it has none. Calls `gethostname`.
    package static var current: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return fallback }
        let bytes = buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        let label = bytes.prefix { $0 != UInt8(ascii: ".") }
        guard let name = String(validating: label, as: UTF8.self) else { return fallback }
        return ConfigurationReader.isDeviceName(name) ? name : fallback
    }

    private static let fallback = "device"
}
