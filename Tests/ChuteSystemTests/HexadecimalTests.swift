import ChuteSystem
import Testing

struct HexadecimalTests {
    @Test func `bytes come back from their digits`() {
        let bytes = Array(UInt8.min...UInt8.max)
        #expect(Hexadecimal.text([0x00, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
        #expect(Hexadecimal.bytes(Hexadecimal.text(bytes)) == bytes)
        #expect(Hexadecimal.bytes("00FF") == [0, 255])
        #expect(Hexadecimal.bytes("") == [])
    }

    @Test(arguments: ["0", "0g", "é", " 00", "0x00"])
    func `what is no digits is refused`(text: String) { #expect(Hexadecimal.bytes(text) == nil) }
}
