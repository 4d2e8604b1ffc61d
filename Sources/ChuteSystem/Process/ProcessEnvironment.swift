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

    /// The program of this name on `PATH`, or else in `/usr/bin`; `nil` where there is none that
    /// this process may start. Calls `access`.
    package func program(_ name: String) -> BytePath? {
        let listed = self["PATH"]?.bytes.split(separator: UInt8(ascii: ":")) ?? []
        // A relative one would mean something else in every working directory.
        let folders = listed.map { BytePath(bytes: $0) }.filter(\.isAbsolute) + ["/usr/bin"]
        return folders.lazy.map { $0.appending(name) }.first(where: Self.isProgram)
    }

    /// Whether a program is there that this process may start. Calls `access`.
    package static func isProgram(_ path: BytePath) -> Bool {
        path.withCString { access($0, X_OK) == 0 }
            && (try? FileStatus.of(path, followingLinks: true).kind) == .regular
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
