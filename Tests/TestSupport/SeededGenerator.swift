/// Random numbers that are the same for the same seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        // Masking shifts: the others are calls in a debug build.
        var mixed = state
        mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed &>> 31)
    }

    /// Random bytes.
    ///
    /// Holds its thread meanwhile, of which Swift's pool has one for each core: also in a debug
    /// build hundreds of megabytes take a second, so that no other test waits until a limit.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        let capacity = (count + 7) / 8 * 8
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
            let words = UnsafeMutableRawBufferPointer(buffer)
            var offset = 0
            while offset < capacity {
                words.storeBytes(of: next(), toByteOffset: offset, as: UInt64.self)
                offset &+= 8
            }
            initialized = count
        }
    }
}
