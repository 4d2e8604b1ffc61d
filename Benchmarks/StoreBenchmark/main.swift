import ChuteKit
import Glibc

/// Measures the store: `swift run -c release StoreBenchmark [documents] [folder]`.
///
/// Prints one figure a line, each beside the same work done with SQLite's C API alone in the same
/// run, which is the limit of any store on it.
let arguments = CommandLine.arguments
let count = arguments.count > 1 ? Int(arguments[1]) ?? 1_000_000 : 1_000_000
let parent = arguments.count > 2 ? arguments[2] : "/var/tmp"

let folder = "\(parent)/chute-benchmark-\(getpid())"
guard mkdir(folder, 0o700) == 0 else {
    print("\(folder) cannot be made")
    exit(1)
}
do {
    try PlainStore(path: "\(folder)/plain.db").measure(count)
    try await EngineMeasurement(folder: "\(folder)/engine", count: count).run()
    try removeTree(folder)
} catch {
    print("it failed, \(folder) is left: \(error)")
    exit(1)
}
