import ChuteSystem
import TestSupport
import Testing

@testable import ChuteKit

/// Pictures that cameras and programs made, and colours as a person sees them.
@Suite(
    .timeLimit(.minutes(3)), .enabled(if: Pixels.isPresent, "libvips-tools is not installed"))
struct RealPictureTests {
    private static func isNear(_ one: [Double], _ other: [Double]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { abs($0 - $1) < 12 }
    }

    @Test(arguments: [(BytePath("p3"), BytePath("a.png")), ("cmyk", "a.jpg"), ("cmyk", "a.tif")])
    func `colours of another profile look as they did`(
        profile: BytePath, name: BytePath
    ) async throws {
        try await withTemporaryDirectory { folder in
            let plain = folder.appending("plain.png")
            try Pixels.make(plain, width: 16, height: 16, colour: "200 100 50")
            let original = folder.appending(name)
            try Pixels.vips(
                "icc_transform", plain, original, profile, "--input-profile", "srgb")
            #expect(!Self.isNear(try Pixels.point(8, 8, of: original), [200, 100, 50]))
            let output = folder.appending("out.jpg")
            try await VipsTransform().encode(original, to: output, quality: .highest)
            #expect(Self.isNear(try Pixels.point(8, 8, of: output), [200, 100, 50]))
        }
    }

    @Test(.enabled(if: Corpus.isPresent, "no corpus of real files: set CHUTE_CORPUS"))
    func `one photo turned in every way is upright every time`() async throws {
        let turned = Corpus.folder.appending("jpeg-orientation")
        let names = try Folder(at: turned).entries().map(\.name)
            .filter { $0.description.hasPrefix("hopper_orientation_") }
        #expect(names.count > 8)
        try await withTemporaryDirectory { folder in
            let transform = VipsTransform()
            var first: BytePath?
            for name in names {
                let output = BytePath(bytes: folder.appending(name).bytes + Array(".jpg".utf8))
                try await transform.thumbnail(
                    of: turned.appending(name), at: output, longestEdge: 64)
                guard let first else {
                    first = output
                    continue
                }
                let (raw, all) = (folder.appending("d.v"), folder.appending("e.v"))
                try Pixels.vips("subtract", first, output, raw)
                try Pixels.vips("abs", raw, all)
                let text = try Pixels.vips("avg", all).split(whereSeparator: \.isWhitespace)
                let difference = try #require(text.first.flatMap { Double($0) })
                #expect(difference < 12, "\(name)")
            }
        }
    }

    @Test(.enabled(if: Corpus.isPresent, "no corpus of real files: set CHUTE_CORPUS"))
    func `of an animation the first picture is made, and all count against the limit`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            for name: BytePath in [
                "gif/dispose-background.gif", "webp/animated-loop-3.webp",
                "webp/rotating-squares.webp",
            ] {
                let original = Corpus.folder.appending(name)
                let pages = try #require(
                    try Pixels.field("n-pages", of: original).flatMap { Int($0) })
                #expect(pages > 1)
                let size = try Pixels.size(of: original)
                let output = folder.appending(name.lastComponent)
                try await VipsTransform().encode(original, to: output, quality: .high)
                #expect(try Pixels.size(of: output) == size)
                let area = size.reduce(1, *)
                let strict = VipsTransform(limits: PictureLimits(pixelCount: area * pages - 1))
                let error = try await #require(throws: ChuteError.self) {
                    try await strict.encode(
                        original, to: folder.appending("none"), quality: .high)
                }
                #expect(error.code == .picture)
            }
        }
    }

    @Test(.enabled(if: Corpus.isPresent, "no corpus of real files: set CHUTE_CORPUS"))
    func `what cameras and phones write is made into a thumbnail`() async throws {
        // Those that libvips 8.14 of Debian cannot open; each of them is an error of its kind.
        let unopened: Set<BytePath> = [
            "testHEIC_livePhoto.heic", "corrupt-header.jpg", "cgbi.png",
            "icc-after-SOF.jpg", "PLUS.xmp",
        ]
        let kinds = [
            "apng", "jpeg-cmyk", "jpeg-gps", "jpeg-odd", "jpeg-orientation", "motion-photo", "mpo",
            "png", "webp",
        ]
        try await withTemporaryDirectory { folder in
            let transform = VipsTransform()
            var count = 0
            for kind in kinds {
                for entry in try Folder(at: Corpus.folder.appending(kind)).entries()
                where !entry.name.description.hasSuffix(".mov") {
                    let original = Corpus.folder.appending(kind).appending(entry.name)
                    let output = folder.appending("o.jpg")
                    do {
                        try await transform.thumbnail(of: original, at: output, longestEdge: 64)
                        let size = try Pixels.size(of: output)
                        #expect(size.count == 2 && size.allSatisfy { (1...64).contains($0) })
                        try Folder(at: folder).remove("o.jpg")
                        count += 1
                    } catch let error as ChuteError {
                        #expect(error.code == .picture)
                        #expect(unopened.contains(entry.name), "\(original): \(error)")
                    }
                }
            }
            #expect(count > 60)
        }
    }
}
