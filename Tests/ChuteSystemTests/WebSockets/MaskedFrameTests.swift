import Testing

@testable import ChuteSystem

struct MaskedFrameTests {
    @Test(
        arguments: [
            (0, [0x82, 0x80]), (1, [0x82, 0x81]), (125, [0x82, 0xFD]), (126, [0x82, 0xFE, 0, 126]),
            (1001, [0x82, 0xFE, 3, 0xE9]), (65_535, [0x82, 0xFE, 0xFF, 0xFF]),
            (65_536, [0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func `a frame says its length and its mask`(count: Int, start: [UInt8]) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 + count + 8, alignment: 16)
        defer { room.deallocate() }
        room[16...].copyBytes(from: payload)
        guard let base = room.baseAddress else { return }
        let mask: [UInt8] = [0xA1, 0xB2, 0xC3, 0xD4]
        let headerCount = MaskedFrame.make(
            base + 16, count: count,
            mask: mask.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
        #expect(headerCount == start.count + 4)
        #expect(headerCount <= MaskedFrame.headerLimit)
        let frame = Array(room[16 - headerCount..<16 + count])
        #expect(Array(frame.prefix(start.count)) == start)
        #expect(Array(frame[start.count..<headerCount]) == mask)
        let unmasked = frame[headerCount...].enumerated().map { $1 ^ mask[$0 & 3] }
        #expect(unmasked == payload)
    }
}
