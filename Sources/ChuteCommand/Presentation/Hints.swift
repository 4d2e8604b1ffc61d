import ChuteSystem
import DropFolder

/// Makes the commands that a text suggests work as they stand, also for an agent whose home was
/// given by `--home` or `CHUTE_HOME`.
///
/// All text for people passes here. What is to be typed here stands in backticks and begins with
/// `chute`; a command for another device, or for a home that is still to be made, stands without
/// them and stays as it is.
struct Hints: Sendable {
    /// Where everything of the agent lies; `nil` for the user's own folders, which need no option.
    let home: BytePath?

    private static let start = "`chute "

    /// `text` with `--home DIR` in every suggested command.
    func complete(_ text: String) -> String {
        guard let home, text.contains(Self.start) else { return text }
        return text.replacing(Self.start, with: Self.start + "--home \(Self.word(home)) ")
    }

    /// A path as one word of a shell's command line.
    static func word(_ path: BytePath) -> String { path.shellWord }
}

extension Hints {
    /// For a command line that may be wrong in other ways.
    init(arguments: [BytePath], environment: ProcessEnvironment, currentFolder: BytePath) {
        var given: BytePath?
        for (index, word) in arguments.enumerated() {
            if word == "--home", index + 1 < arguments.count {
                given = arguments[index + 1]
            } else if word.bytes.starts(with: Array("--home=".utf8)) {
                given = BytePath(bytes: word.bytes.dropFirst("--home=".utf8.count))
            }
        }
        home =
            (try? Home.locate(given, environment: environment, currentFolder: currentFolder))?
            .folder
    }
}
