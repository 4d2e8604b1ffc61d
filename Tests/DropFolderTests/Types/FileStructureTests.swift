import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite struct FileStructureTests {
    typealias Bytes = SampleBytes

    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: FileStructure
        let bytes: [UInt8]

        init(_ name: String, _ expected: FileStructure, _ bytes: [UInt8]) {
            testDescription = "\(name) is \(expected)"
            self.expected = expected
            self.bytes = bytes
        }
    }

    private static func probe(_ bytes: [UInt8]) async throws -> FileStructure {
        try await withTemporaryDirectory { folder in
            let file = try FileDescriptor.open(folder.appending("f"), O_RDWR | O_CREAT)
            try file.write(bytes, at: 0)
            return try FileStructure.probe(file, size: UInt64(bytes.count))
        }
    }

    private static let noise = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) & 0x7F }
    private static let thumbnail = Bytes.segment(0xE1, Array("Exif\0\0".utf8) + Bytes.jpeg())
    private static let film =
        Bytes.brand("mp42") + Bytes.movie("vide") + Bytes.box("mdat", [1, 2, 3, 4, 5])
    private static let filmMark = Bytes.segment(
        0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x GCamera:MicroVideo=\"1\"/>".utf8))
    private static let png =
        Bytes.pngHead + Bytes.chunk("IDAT", noise) + Bytes.big(0) + Array("IEND".utf8)
        + [0xAE, 0x42, 0x60, 0x82]
    private static let gif =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 1, 1, 1]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 3, 0x3B, 0x3B, 0x3B, 0, 0x3B]
    private static let webp =
        Array("RIFF".utf8) + Bytes.little(4 + noise.count) + Array("WEBP".utf8) + noise

    /// Two pictures with filling between them, and the index that says so.
    private static let twoPictures: [UInt8] = {
        let second = Bytes.jpeg()
        let firstLength = Bytes.jpeg(index(0, 0, 0)).count
        let gap = [UInt8](repeating: 0, count: 40)
        let marks = index(firstLength, firstLength + gap.count, second.count)
        return Bytes.jpeg(marks) + gap + second
    }()

    /// A multi-picture segment behind the first segment of `Bytes.jpeg`.
    private static func index(_ first: Int, _ start: Int, _ length: Int) -> [UInt8] {
        let base = 2 + 18 + 8
        let entries = [(first, 0), (length, start - base)].flatMap { length, offset in
            Bytes.big(0) + Bytes.big(length) + Bytes.big(offset & 0xFFFF_FFFF) + Bytes.big(0)
        }
        let entry =
            Bytes.big(0xB002, 2) + Bytes.big(7, 2) + Bytes.big(entries.count) + Bytes.big(26)
        return Bytes.segment(
            0xE2,
            Array("MPF\0MM".utf8) + Bytes.big(42, 2) + Bytes.big(8) + Bytes.big(1, 2) + entry
                + Bytes.big(0) + entries)
    }

    /// Whole files, one of each type.
    private static let whole: [(String, [UInt8])] = [
        ("JPEG", Bytes.jpeg(thumbnail, content: noise)),
        ("motion photo", Bytes.jpeg(filmMark) + film),
        ("two pictures", twoPictures),
        ("PNG", png), ("GIF", gif), ("WebP", webp), ("MP4", film),
        (
            "MP4 of 64 bits",
            Bytes.brand("mp42") + Bytes.movie("vide") + Bytes.big(1) + Array("mdat".utf8)
                + Bytes.big(16 + noise.count, 8) + noise
        ),
        ("HEIC", Bytes.brand("heic") + Bytes.box("meta", Bytes.big(0)) + Bytes.box("mdat", noise)),
        ("PDF", Array("%PDF-1.7\n".utf8) + noise + Array("\n%%EOF\n".utf8)),
        ("ZIP", Bytes.zip([("a", "hello"), ("b", "more")])),
        ("ZIP with comment", Bytes.zip([("a", "hello")], comment: "a comment")),
    ]

    @Test(arguments: whole)
    func `a whole file is complete, any shorter one is not`(
        name: String, bytes: [UInt8]
    ) async throws {
        #expect(try await Self.probe(bytes) == .complete)
        for kept in Set([1, 2, 3, 8, 16, bytes.count / 3, bytes.count / 2, bytes.count - 3])
        where kept < bytes.count {
            #expect(try await Self.probe(Array(bytes[..<kept])) != .complete, "\(kept) bytes")
        }
    }

    @Test(arguments: whole.filter { $0.1.count > 5000 })
    func `a file allocated in full and written by half is not complete`(
        name: String, bytes: [UInt8]
    ) async throws {
        var half = bytes
        for index in (bytes.count / 2)..<bytes.count { half[index] = 0 }
        #expect(try await Self.probe(half) != .complete)
    }

    @Test(arguments: [
        Sample("nothing", .empty, []),
        Sample("zeros", .zeroHead, [UInt8](repeating: 0, count: 9000)),
        Sample(
            "zeros, then a picture's end", .zeroHead,
            [UInt8](repeating: 0, count: 5000) + [0xFF, 0xD9]),
        Sample("one zero", .zeroHead, [0]),
        Sample("text", .unknown, Array("a line\n".utf8)),
        Sample("text like a box", .unknown, Array("The free world\n".utf8)),
        Sample("start of JPEG", .cut, [0xFF, 0xD8]),
        Sample("start of PNG", .cut, [0x89, 0x50]),
        Sample(
            "JPEG that ends in its thumbnail", .cut,
            Array(Bytes.jpeg(thumbnail)[..<(20 + thumbnail.count)])),
        Sample("JPEG and zeros", .complete, Bytes.jpeg() + [UInt8](repeating: 0, count: 300)),
        Sample("JPEG and some block", .unknown, Bytes.jpeg() + noise),
        Sample("motion photo without its film", .unknown, Bytes.jpeg(filmMark)),
        Sample(
            "motion photo with room for its film", .cut,
            Bytes.jpeg(filmMark) + [UInt8](repeating: 0, count: 3000)),
        Sample("motion photo with half a film", .cut, Bytes.jpeg(filmMark) + film.dropLast(2)),
        Sample("PNG and more", .complete, png + noise),
        Sample("GIF with trailers within", .cut, Array(gif.dropLast(2))),
        Sample(
            "WAVE that streams", .unknown,
            Array("RIFF".utf8) + Bytes.little(0) + Array("WAVEfmt ".utf8)),
        Sample("film without its index", .cut, Bytes.brand("qt  ") + Bytes.box("mdat", noise)),
        Sample(
            "box that is shorter than its head", .unknown,
            Bytes.brand("mp42") + Bytes.movie("vide") + Bytes.big(3) + Array("mdatabcd".utf8)),
        Sample(
            "box of the greatest size", .cut,
            Bytes.brand("mp42") + Bytes.big(1) + Array("mdat".utf8)
                + [UInt8](repeating: 0xFF, count: 8)),
        Sample(
            "PDF for the web, cut at an inner end", .cut,
            Array("%PDF-1.4\n1 0 obj<</Linearized 1/L 90000/H[1 2]>>\n%%EOF\n".utf8)),
        Sample(
            "ZIP cut behind an archive within", .unknown,
            Array("PK\u{3}\u{4}".utf8) + noise + Bytes.zip([("a", "hello")])),
    ])
    func `structure is told`(sample: Sample) async throws {
        #expect(try await Self.probe(sample.bytes) == sample.expected)
    }

    @Test func `a sparse file of many gigabytes costs little`() async throws {
        try await withTemporaryDirectory { folder in
            let file = try FileDescriptor.open(folder.appending("f"), O_RDWR | O_CREAT)
            let head = Bytes.brand("mp42") + Bytes.movie("vide") + Bytes.big(1)
            let size = UInt64(1) << 40
            let body = Int(size) - head.count + 4
            try file.write(head + Array("mdat".utf8) + Bytes.big(body, 8), at: 0)
            try file.truncate(to: size)
            #expect(try FileStructure.probe(file, size: size) == .cut)
            try file.write([1, 2, 3], at: size - 3)
            #expect(try FileStructure.probe(file, size: size) == .complete)
        }
    }
}
