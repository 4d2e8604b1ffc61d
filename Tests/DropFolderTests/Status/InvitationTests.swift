import DropFolder
import Testing

struct InvitationTests {
    @Test(arguments: [
        ("192.168.1.2:4040", true), ("[fd00::2]:4040", true), ("lan://192.168.1.2:4041", true),
        ("ws://10.0.0.2:8080/chute", true), ("pi.local:4040", true), ("localhost:4040", true),
        ("203.0.113.5:4040", false), ("[2001:db8::2]:4040", false), ("pi.example.org:4040", false),
        ("wss://example.org/chute", false),
    ])
    func `an address reaches only this network or not`(_ address: String, _ isOnly: Bool) {
        #expect(Invitation.isOfThisNetwork(address) == isOnly)
    }
}
