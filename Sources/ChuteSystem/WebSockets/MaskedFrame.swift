/// The frame of a binary message from a client, made in place.
///
/// The library masks byte by byte, which takes a client more than half of the time that it has for
/// sending.
enum MaskedFrame {
    /// What may stand before a payload, at most.
    static let headerLimit = 14

    /// Masks the `count` bytes at `payload` and writes their header before them; how long that is.
    ///
    /// There must be room for the header, and for whole words behind the payload's end; `payload`
    /// must be aligned for those.
    static func make(_ payload: UnsafeMutableRawPointer, count: Int, mask: UInt32) -> Int {
        let words = UnsafeMutableBufferPointer(
            start: payload.assumingMemoryBound(to: UInt64.self), count: (count + 7) / 8)
        let double = UInt64(mask) << 32 | UInt64(mask)
        for index in words.indices { words[index] ^= double }
        let lengthCount = count < 126 ? 0 : count <= UInt16.max ? 2 : 8
        let headerCount = 2 + lengthCount + 4
        let header = payload - headerCount
        header.storeBytes(of: 0x82, as: UInt8.self)  // the only frame of a binary message
        switch lengthCount {
        case 0: header.storeBytes(of: 0x80 | UInt8(count), toByteOffset: 1, as: UInt8.self)
        case 2:
            header.storeBytes(of: 0x80 | 126, toByteOffset: 1, as: UInt8.self)
            header.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
        default:
            header.storeBytes(of: 0x80 | 127, toByteOffset: 1, as: UInt8.self)
            header.storeBytes(of: UInt64(count).bigEndian, toByteOffset: 2, as: UInt64.self)
        }
        // In the order in which it lies in the words.
        (payload - 4).storeBytes(of: mask, as: UInt32.self)
        return headerCount
    }
}
