import Testing

@testable import ChuteSystem

struct SpeakerChoiceTests {
    /// Takes the next steps as if the daemon answered this way and the core started, until there
    /// are none; which they were.
    private static func steps(
        _ choice: inout SpeakerChoice, at now: Duration, daemon: Bool?, core: Bool = true
    ) -> [SpeakerChoice.Step] {
        var steps: [SpeakerChoice.Step] = []
        while steps.count < 10, let step = choice.nextStep(now: now) {
            steps.append(step)
            switch step {
            case .reachForDaemon: choice.daemonIs(answering: daemon, now: now)
            case .startCore: core ? choice.coreStarted() : choice.coreFailed(now: now)
            case .stopCore: choice.coreStopped()
            }
        }
        return steps
    }

    @Test func `a daemon that answers is all there is`() {
        var choice = SpeakerChoice()
        #expect(Self.steps(&choice, at: .zero, daemon: true) == [.reachForDaemon])
        #expect(choice.nextMoment == nil)
    }

    @Test(arguments: [nil, false])
    func `where no daemon answers the core starts at once`(_ daemon: Bool?) {
        var choice = SpeakerChoice()
        #expect(
            Self.steps(&choice, at: .zero, daemon: daemon) == [.reachForDaemon, .startCore])
    }

    @Test func `a daemon that appears takes over`() {
        var choice = SpeakerChoice()
        _ = Self.steps(&choice, at: .zero, daemon: false)
        choice.daemonIs(answering: true, now: .seconds(100))
        #expect(Self.steps(&choice, at: .seconds(100), daemon: true) == [.stopCore])
    }

    @Test func `a daemon that starts anew has its time to do so`() {
        var choice = SpeakerChoice()
        _ = Self.steps(&choice, at: .zero, daemon: true)
        choice.daemonIs(answering: false, now: .seconds(100))
        #expect(Self.steps(&choice, at: .seconds(101), daemon: true).isEmpty)
        choice.daemonIs(answering: true, now: .seconds(101))
        #expect(Self.steps(&choice, at: .seconds(200), daemon: true).isEmpty)
    }

    @Test func `the core takes over from a daemon that stays away`() {
        var choice = SpeakerChoice()
        _ = Self.steps(&choice, at: .zero, daemon: true)
        choice.daemonIs(answering: false, now: .seconds(100))
        #expect(choice.nextMoment == .seconds(102))
        #expect(Self.steps(&choice, at: .seconds(102), daemon: true) == [.startCore])
    }

    @Test func `a daemon is reached for again, never more often than every half minute in the end`()
    {
        var choice = SpeakerChoice()
        var moments: [Duration] = []
        var now = Duration.zero
        for _ in 0..<10 {
            _ = Self.steps(&choice, at: now, daemon: nil)
            guard let next = choice.nextMoment else { break }
            moments.append(next - now)
            now = next
        }
        #expect(moments.count == 10)
        #expect(moments.first == .seconds(1))
        #expect(moments.last == .seconds(30))
    }

    @Test func `a core that cannot start is tried again, with pauses`() {
        var choice = SpeakerChoice()
        _ = Self.steps(&choice, at: .zero, daemon: false, core: false)
        #expect(Self.steps(&choice, at: .milliseconds(900), daemon: false).isEmpty)
        #expect(Self.steps(&choice, at: .seconds(1), daemon: false, core: false) == [.startCore])
        #expect(choice.nextMoment == .seconds(3))
    }
}
