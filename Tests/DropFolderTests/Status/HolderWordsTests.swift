import DropFolder
import Testing

struct HolderWordsTests {
    private func text(_ holders: (String, isTalkedTo: Bool, isConnected: Bool)...) -> String {
        HolderWords(
            holders.map {
                .init(name: $0.0, isTalkedTo: $0.isTalkedTo, isConnected: $0.isConnected)
            }
        ).text
    }

    @Test func `who has a file and is away is named, and said to be out of reach`() {
        #expect(
            text(("laptop", isTalkedTo: true, isConnected: false))
                == "laptop has it and is not reachable: comes when laptop is connected")
        #expect(
            text(
                ("laptop", isTalkedTo: true, isConnected: false),
                ("pi", isTalkedTo: true, isConnected: false),
                ("cam", isTalkedTo: false, isConnected: false))
                == "laptop and pi have it and are not reachable: comes when laptop or pi is "
                + "connected")
    }

    @Test func `a sender's file that no owner passes on is said to be reached by owners alone`() {
        #expect(
            text(("cam", isTalkedTo: false, isConnected: false))
                == "cam has it and can be reached by owners alone: comes when one of them passes "
                + "it on")
    }

    @Test func `what nobody has any more is to be dropped anew`() {
        #expect(
            text(("pi", isTalkedTo: true, isConnected: true))
                == "pi had it and does not any more: drop it anew there")
        #expect(text() == "no member is known to have it: drop it anew")
    }
}
