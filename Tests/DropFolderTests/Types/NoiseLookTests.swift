import TestSupport
import Testing

@testable import DropFolder

struct NoiseLookTests {
    @Test func `bytes of chance are noise, nearly always`() {
        var random = SeededGenerator(seed: 1)
        let noise = (0..<200).count { _ in
            NoiseLook.isNoise(
                Excerpt((0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }))
        }
        #expect(noise > 180)
    }

    @Test(arguments: [
        Array("RIFF".utf8), [0xFF, 0x0A], [0xFF, 0xFB], [0x1F, 0x8B], Array("....ftypheic".utf8),
    ])
    func `a signature before even bytes is none`(signature: [UInt8]) {
        var random = SeededGenerator(seed: 2)
        let rest = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(!NoiseLook.isNoise(Excerpt(signature + rest)))
    }

    @Test func `zeros, text and short files are no noise`() {
        #expect(!NoiseLook.isNoise(Excerpt(Array(repeating: 0, count: 4096))))
        #expect(!NoiseLook.isNoise(Excerpt(Array(repeating: 0x41, count: 4096))))
        #expect(!NoiseLook.isNoise(Excerpt([1, 2, 3])))
    }
}
