import CLinux
import Glibc

/// The environment variables of a process; values are bytes, as paths are.
package struct ProcessEnvironment: Hashable, Sendable {
    package var variables: [String: BytePath]

    package init(_ variables: [String: BytePath]) { self.variables = variables }

    /// The variables of this process. Reads `environ`.
    package static var current: ProcessEnvironment {
        var variables: [String: BytePath] = [:]
        var next = chute_environment()
        while let entry = next?.pointee {
            let bytes = UnsafeRawBufferPointer(start: entry, count: strlen(entry))
            if let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
                let name = String(validating: bytes[..<equals], as: UTF8.self)
            {
                variables[name] = BytePath(bytes: bytes[(equals + 1)...])
            }
            next = next?.advanced(by: 1)
        }
        return ProcessEnvironment(variables)
    }

    /// The value of a variable; `nil` where it is unset or empty.
    package subscript(_ name: String) -> BytePath? {
        guard let value = variables[name], !value.isEmpty else { return nil }
        return value
    }

    /// The user's home folder: `HOME`, or what the user database says.
    package var homeFolder: BytePath? {
        if let home = self["HOME"], home.isAbsolute { return home }
        return Self.user { $0.pw_dir }
    }

    /// The name of the user that this process runs as; `nil` where the user database has none.
    package static var userName: BytePath? { user { $0.pw_name } }

    /// A field of the user's record. Calls `getpwuid_r`.
    private static func user(_ field: (passwd) -> UnsafeMutablePointer<CChar>?) -> BytePath? {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let code = getpwuid_r(getuid(), &record, start, buffer.count, &found)
            guard code == 0, found != nil, let text = field(record) else { return nil }
            return BytePath(bytes: UnsafeRawBufferPointer(start: text, count: strlen(text)))
        }
    }
}
