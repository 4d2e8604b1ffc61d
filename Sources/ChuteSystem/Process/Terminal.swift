import Glibc

/// What a stream can show: whether a person looks at it, how wide it is, whether colour is wanted.
package struct Terminal: Hashable, Sendable {
    package var isTerminal: Bool
    /// In characters.
    package var width: Int
    package var hasColour: Bool

    package init(isTerminal: Bool, width: Int = 80, hasColour: Bool = false) {
        self.isTerminal = isTerminal
        self.width = width
        self.hasColour = hasColour
    }

    /// A file or a pipe: no bars, no colour.
    package static let none = Terminal(isTerminal: false)

    /// Looks at a stream of this process. Calls `isatty` and `ioctl(TIOCGWINSZ)`.
    ///
    /// `NO_COLOR` with any value turns colour off, as does `TERM=dumb`.
    package init(of stream: StandardStream, environment: ProcessEnvironment) {
        isTerminal = isatty(stream.descriptor) == 1
        width = 80
        var size = winsize()
        if isTerminal, ioctl(stream.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            width = Int(size.ws_col)
        }
        let isDumb = environment["TERM"] == nil || environment["TERM"] == "dumb"
        hasColour = isTerminal && environment["NO_COLOR"] == nil && !isDumb
    }
}
