import Glibc

/// How long `body` took.
func timed(_ body: () throws -> Void) rethrows -> Duration {
    let clock = ContinuousClock()
    return try clock.measure(body)
}

func timed(_ body: () async throws -> Void) async rethrows -> Duration {
    let start = ContinuousClock.now
    try await body()
    return ContinuousClock.now - start
}

func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

/// One figure in one line.
func report(_ name: String, _ value: Double, _ unit: String) {
    let digits = value < 100 ? 3 : 0
    let scale = [1.0, 10, 100, 1000][digits]
    print("\(name): \((value * scale).rounded() / scale) \(unit)")
    fflush(nil)  // seen at once, also where it goes into a file
}

/// Processor time of all threads of this process so far, in seconds.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The most memory that this process had so far, in MB.
func peakMemory() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_maxrss) / 1024
}

/// The memory that this process has now, in MB; 0 where that cannot be told.
func currentMemory() -> Double {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(
        decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return Double(pages * 4096) / 1_048_576
}

/// The middle one of several measurements.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
}

/// Removes a folder that this program made, with all in it.
func removeTree(_ path: String) throws {
    guard let folder = opendir(path) else { return }
    defer {
        closedir(folder)
        rmdir(path)
    }
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name == "." || name == ".." { continue }
        if entry.pointee.d_type == DT_DIR {
            try removeTree("\(path)/\(name)")
        } else {
            unlink("\(path)/\(name)")
        }
    }
}
