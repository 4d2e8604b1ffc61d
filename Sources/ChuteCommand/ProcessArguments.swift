import ChuteSystem
import Glibc

/// The arguments of this process as bytes, and where it runs.
enum ProcessArguments {
    /// All but the program's name.
    static let all: [BytePath] = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
        CommandLine.unsafeArgv[index].map { argument in
            BytePath(bytes: UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
        }
    }

    /// Overwrites every argument that is `secret`, so that the process list does not show it.
    static func erase(_ secret: BytePath) {
        _ = all  // read before they are overwritten
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let length = strlen(argument)
            let bytes = UnsafeRawBufferPointer(start: argument, count: length)
            if secret.bytes.elementsEqual(bytes) { memset(argument, 0x78, length) }
        }
    }

    /// Where this program lies. Calls `readlink` on `/proc/self/exe`.
    static var executable: BytePath {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return "chute" }
            let count = readlink("/proc/self/exe", start, buffer.count)
            return count > 0
                ? BytePath(bytes: UnsafeRawBufferPointer(start: start, count: count)) : "chute"
        }
    }

    /// Calls `getcwd`; `/` where the folder is gone.
    static var currentFolder: BytePath {
        guard let folder = getcwd(nil, 0) else { return "/" }
        defer { free(folder) }
        return BytePath(bytes: UnsafeRawBufferPointer(start: folder, count: strlen(folder)))
    }
}
