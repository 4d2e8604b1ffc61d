import ChuteSystem
import Glibc
import TestSupport
import Testing

@testable import ChuteKit

@Suite(
    .timeLimit(.minutes(2)), .enabled(if: Pixels.isPresent, "libvips-tools is not installed"))
struct VipsTransformTests {
    /// Near enough, after a lossy encoding.
    private static func isNear(_ one: [Double], _ other: [Double]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { abs($0 - $1) < 12 }
    }

    private static func names(in folder: BytePath) throws -> Set<BytePath> {
        Set(try Folder(at: folder).entries().map(\.name))
    }

    @Test func `a thumbnail keeps its shape, and the original its bytes`() async throws {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("a.png")
            try Pixels.make(original, width: 300, height: 200, colour: "200 100 50")
            let before = try Pixels.bytes(of: original)
            let status = try FileStatus.of(original)
            let output = folder.appending("small.jpg")
            try await VipsTransform().thumbnail(of: original, at: output, longestEdge: 60)
            #expect(try Pixels.size(of: output) == [60, 40])
            #expect(Self.isNear(try Pixels.point(30, 20, of: output), [200, 100, 50]))
            #expect(try Pixels.bytes(of: output).starts(with: [0xFF, 0xD8, 0xFF]))
            #expect(try Pixels.bytes(of: original) == before)
            #expect(try FileStatus.of(original) == status)
            #expect(try Self.names(in: folder) == ["a.png", "small.jpg"])
        }
    }

    @Test func `a small picture is not enlarged`() async throws {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("a.png")
            try Pixels.make(original, width: 30, height: 20, colour: "200 100 50")
            let output = folder.appending("b.jpg")
            try await VipsTransform().thumbnail(of: original, at: output, longestEdge: 60)
            #expect(try Pixels.size(of: output) == [30, 20])
        }
    }

    @Test func `a better quality is a larger file of the same size`() async throws {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("noise.png")
            try Pixels.vips("gaussnoise", folder.appending("n.v"), "200", "100")
            try Pixels.vips("cast", folder.appending("n.v"), original, "uchar")
            var sizes: [UInt64] = []
            for quality in JPEGQuality.allCases {
                let output = folder.appending("\(quality).jpg")
                try await VipsTransform().encode(original, to: output, quality: quality)
                #expect(try Pixels.size(of: output) == [200, 100])
                sizes.append(try FileStatus.of(output).size)
            }
            #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 < $1 })
        }
        #expect(JPEGQuality.allCases.map(\.rawValue) == [0, 0.25, 0.5, 0.75, 1])
    }

    @Test func `what is transparent lies on white`() async throws {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("clear.png")
            try Pixels.make(original, width: 16, height: 16, colour: "0 0 0 0")
            let output = folder.appending("a.jpg")
            try await VipsTransform().encode(original, to: output, quality: .highest)
            #expect(Self.isNear(try Pixels.point(8, 8, of: output), [255, 255, 255]))
        }
    }

    @Test func `a 16 bit picture becomes one of 8`() async throws {
        try await withTemporaryDirectory { folder in
            let eight = folder.appending("eight.png")
            try Pixels.make(eight, width: 16, height: 16, colour: "200 100 50")
            let original = folder.appending("sixteen.png")
            try Pixels.vips("colourspace", eight, original, "rgb16")
            #expect(try Pixels.field("format", of: original) != "uchar")
            let output = folder.appending("a.jpg")
            try await VipsTransform().encode(original, to: output, quality: .highest)
            #expect(Self.isNear(try Pixels.point(8, 8, of: output), [200, 100, 50]))
        }
    }

    @Test func `names are only names, whatever libvips would make of them`() async throws {
        for name: BytePath in [
            "-a[Q=1]%s.png", "a b\n.png", BytePath(bytes: [0xFF, 0x5B, 0xFE]), "stdin", ".png",
        ] {
            try await withTemporaryDirectory { folder in
                let made = folder.appending("made.png")
                try Pixels.make(made, width: 16, height: 16, colour: "200 100 50")
                try Folder(at: folder).rename("made.png", to: name)
                let output = BytePath(bytes: name.bytes + Array("[strip].jpg".utf8))
                try await VipsTransform().encode(
                    folder.appending(name), to: folder.appending(output), quality: .low)
                #expect(try Self.names(in: folder) == [name, output])
            }
        }
    }

    @Test func `an output that exists is refused and left as it is`() async throws {
        try await withTemporaryDirectory { folder in
            let original = folder.appending("a.png")
            try Pixels.make(original, width: 16, height: 16, colour: "200 100 50")
            let before = try Pixels.bytes(of: original)
            for output in [original, folder.appending("link")] {
                if output != original { symlink("nowhere", output.description) }
                let error = try await #require(throws: ChuteError.self) {
                    try await VipsTransform().encode(original, to: output, quality: .low)
                }
                #expect(error.code == .file)
                #expect(error.description.contains("exists already"))
            }
            #expect(try Pixels.bytes(of: original) == before)
            #expect(try Self.names(in: folder) == ["a.png", "link"])
        }
    }

    @Test func `files that cannot be used are said to be, by what they are`() async throws {
        try await withTemporaryDirectory { folder in
            let good = folder.appending("a.png")
            try Pixels.make(good, width: 16, height: 16, colour: "200 100 50")
            mkfifo(folder.appending("pipe").description, 0o600)
            let output = folder.appending("out.jpg")
            let cases = [
                (folder.appending("missing"), output), (folder, output),
                (folder.appending("pipe"), output), (good, folder.appending("missing/out.jpg")),
            ]
            for (original, output) in cases {
                let error = try await #require(throws: ChuteError.self) {
                    try await VipsTransform().encode(original, to: output, quality: .low)
                }
                #expect(error.code == .file)
            }
            let error = try await #require(throws: ChuteError.self) {
                try await VipsTransform().thumbnail(of: good, at: output, longestEdge: 0)
            }
            #expect(error.code == .invalid)
            #expect(try Self.names(in: folder) == ["a.png", "pipe"])
        }
    }

    @Test func `without libvips the error says what to install`() async throws {
        try await withTemporaryDirectory { folder in
            let transform = VipsTransform(programs: folder)
            let error = try await #require(throws: ChuteError.self) {
                try await transform.encode("/etc/passwd", to: "/tmp/x.jpg", quality: .low)
            }
            #expect(error.code == .missingProgram)
            #expect(error.description.contains("apt install libvips-tools"))
        }
    }

    @Test func `metadata stays behind unless it is asked for`() async throws {
        try await withTemporaryDirectory { folder in
            let plain = folder.appending("plain.jpg")
            try Pixels.make(plain, width: 16, height: 16, colour: "200 100 50")
            // Six of eight: turned by a quarter.
            let original = try Pixels.turned(plain, orientation: 6)
            let (bare, told) = (folder.appending("bare.jpg"), folder.appending("told.jpg"))
            let transform = VipsTransform()
            try await transform.makeJPEG(of: original, at: bare, JPEGForm(quality: .high))
            try await transform.makeJPEG(
                of: original, at: told, JPEGForm(quality: .high, keepsMetadata: true))
            #expect(try Pixels.field("exif-data", of: original) != nil)
            #expect(try Pixels.field("exif-data", of: bare) == nil)
            #expect(try Pixels.field("exif-data", of: told) != nil)
            // Applied: to be applied again it must not be told.
            #expect(try Pixels.field("orientation", of: original) == "6")
            #expect([nil, "1"].contains(try Pixels.field("orientation", of: told)))
        }
    }

    @Test func `the small picture in the metadata, which is not turned, is not told`()
        async throws
    {
        try await withTemporaryDirectory { folder in
            let plain = folder.appending("plain.jpg")
            try Pixels.make(plain, width: 64, height: 32, colour: "200 100 50")
            let original = try Pixels.turned(plain, orientation: 6, hasThumbnail: true)
            #expect(try Pixels.field("jpeg-thumbnail-data", of: original) != nil)
            let output = folder.appending("a.jpg")
            try await VipsTransform().makeJPEG(
                of: original, at: output, JPEGForm(quality: .high, keepsMetadata: true))
            #expect(try Pixels.size(of: output) == [32, 64])
            #expect(try Pixels.field("exif-data", of: output) != nil)
            #expect(try Pixels.field("jpeg-thumbnail-data", of: output) == nil)
        }
    }

    @Test func `a turned picture is made upright`() async throws {
        try await withTemporaryDirectory { folder in
            let plain = folder.appending("plain.jpg")
            try Pixels.make(plain, width: 64, height: 32, colour: "200 100 50")
            let original = try Pixels.turned(plain, orientation: 6)
            let output = folder.appending("a.jpg")
            try await VipsTransform().thumbnail(of: original, at: output, longestEdge: 32)
            #expect(try Pixels.size(of: output) == [16, 32])
        }
    }
}

extension Pixels {
    /// A copy of a JPEG with an EXIF block that has this orientation, and maybe a small picture.
    static func turned(
        _ path: BytePath, orientation: UInt8, hasThumbnail: Bool = false
    ) throws -> BytePath {
        let bytes = try bytes(of: path)
        let tiff: [UInt8] =
            Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1]
            + [0, orientation, 0, 0, 0, 0, 0, hasThumbnail ? 26 : 0]
            + (hasThumbnail ? thumbnail : [])
        let content = Array("Exif".utf8) + [0, 0] + tiff
        let segment = [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
        let turned = path.parent.appending("turned.jpg")
        try FileDescriptor.open(turned, FileDescriptor.readWriteCreate)
            .write(Array(bytes[..<2]) + segment + Array(bytes[2...]), at: 0)
        return turned
    }

    /// A second directory at 26, which says that four bytes at 56 are a JPEG.
    private static let thumbnail: [UInt8] =
        [0, 2, 2, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 56, 2, 2, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4]
        + [0, 0, 0, 0, 0xFF, 0xD8, 0xFF, 0xD9]
}
