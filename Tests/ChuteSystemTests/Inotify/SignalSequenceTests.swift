import ChuteSystem
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SignalSequenceTests {
    @Test func `a hangup arrives in the sequence and ends nothing`() async throws {
        let signals = try SignalSequence([.hangup])
        kill(getpid(), SIGHUP)
        for await signal in signals {
            #expect(signal == .hangup)
            break
        }
    }

    @Test func `a broken pipe and a lease break end nothing`() async {
        ignoreSignals()
        kill(getpid(), SIGPIPE)
        kill(getpid(), SIGIO)
    }
}
