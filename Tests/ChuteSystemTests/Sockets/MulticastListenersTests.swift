import Testing

@testable import ChuteSystem

struct MulticastListenersTests {
    @Test func `the owners of sockets at port 5353 are found, those at others are not`() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout
             100: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   108        0
             101: 00000000:14E8 00000000:0000 07 00000000:00000000 00:00000000 00000000   109        0
             102: 0100007F:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0
            cut
            """
        #expect(MulticastListeners.users(in: table) == [0, 108])
        #expect(MulticastListeners.users(in: "").isEmpty)
    }
}
