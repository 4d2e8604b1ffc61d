import Dispatch
import Glibc

/// The lines that are typed, or come from a pipe, without anybody waiting for them.
package func typedLines() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    DispatchQueue(label: "typing").async {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
    }
    return lines
}

/// Prints a line at once, also into a pipe.
package func say(_ text: String) {
    var rest = Array("\(text)\n".utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// `[########            ] 40 %`
package func bar(_ fraction: Double) -> String {
    let filled = Int((min(max(fraction, 0), 1) * 20).rounded(.down))
    let empty = String(repeating: " ", count: 20 - filled)
    return "[" + String(repeating: "#", count: filled) + empty + "] \(filled * 5) %"
}

/// What follows an option, as in `--listen 127.0.0.1:4041`.
package func option(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: "--" + name), index + 1 < arguments.count else {
        return nil
    }
    return arguments[index + 1]
}
