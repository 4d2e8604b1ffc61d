/// How a transport is.
public enum TransportState: Hashable, Sendable {
    /// It works: where connections are taken or others are looked for, in the transport's own
    /// words, such as `[::]:4040`; `nil` for one that only dials.
    case running(String?)
    /// It waits, for what, in a sentence that says what to do; it goes on by itself.
    case waiting(String)
    /// It does not work on this host, and what to install or to allow; it is tried again.
    case impossible(String)
}
