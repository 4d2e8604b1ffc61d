import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite struct MIMEDetectorTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: BytePath
        let expected: String
        let bytes: [UInt8]
        var testDescription: String { "\(name): \(expected)" }

        init(_ name: BytePath, _ expected: String, _ bytes: [UInt8]) {
            self.name = name
            self.expected = expected
            self.bytes = bytes
        }

        init(_ name: BytePath, _ expected: String, _ text: String) {
            self.init(name, expected, Array(text.utf8))
        }
    }

    /// The type, asked as the agent does: from an open file.
    private static func type(of sample: Sample, _ detector: MIMEDetector) async throws -> String {
        var type = ""
        try await withTemporaryDirectory { folder in
            let file = try FileDescriptor.open(folder.appending("f"), O_RDWR | O_CREAT)
            try file.write(sample.bytes, at: 0)
            type = try detector.type(
                of: file, size: UInt64(sample.bytes.count), name: sample.name
            ).description
        }
        return type
    }

    typealias Bytes = SampleBytes

    @Test(arguments: [
        Sample("a.heic", "image/heic", Bytes.brand("heic", "mif1", "heic")),
        Sample("a", "image/avif", Bytes.brand("mif1", "avif", "miaf")),
        Sample("a", "image/heif", Bytes.brand("jpeg", "mif1")),
        Sample("a", "image/x-canon-cr3", Bytes.brand("crx ", "isom")),
        Sample("a", "video/mp4", Bytes.brand("MSNV", "isom") + Bytes.movie("soun", "vide")),
        Sample("a", "video/mp4", Bytes.brand("XAVC", "mp42") + Bytes.movie("vide")),
        Sample("a", "audio/mp4", Bytes.brand("isom", "mp42") + Bytes.movie("soun")),
        Sample("a", "audio/3gpp", Bytes.brand("3gp5") + Bytes.box("mdat") + Bytes.movie("soun")),
        Sample("a", "audio/mp4", Bytes.brand("M4A ", "isom")),
        Sample("a", "video/quicktime", Bytes.box("wide") + Bytes.box("mdat", [1, 2, 3])),
        Sample("a", "video/quicktime", Bytes.box("free", [9]) + Bytes.box("moov")),
        Sample("a", "video/mp4", Bytes.box("free", [9]) + Bytes.brand("mp42")),
    ])
    func `ISO media is named by its brands and tracks`(sample: Sample) async throws {
        #expect(try await Self.type(of: sample, MIMEDetector()) == sample.expected)
    }

    @Test(arguments: [
        Sample("IMG.HEIC", "image/jpeg", Bytes.jpeg()),
        Sample("a.jpg", "image/jls", [0xFF, 0xD8] + Bytes.segment(0xF7, [8, 0, 1, 0, 1, 1])),
        Sample("a.png", "image/png", Bytes.pngHead + Bytes.chunk("IDAT") + Bytes.chunk("acTL")),
        Sample("a.png", "image/apng", Bytes.pngHead + Bytes.chunk("acTL") + Bytes.chunk("IDAT")),
        Sample("a.png", "image/png", Bytes.pngMark + Bytes.chunk("tEXt") + Bytes.chunk("IHDR")),
        Sample("a", "image/x-adobe-dng", Bytes.tiff(maker: "Canon", tags: [(0xC612, 1)])),
        Sample("a.NEF", "image/x-nikon-nef", Bytes.tiff(maker: "NIKON CORPORATION")),
        Sample(
            "a", "image/x-nikon-nef", Bytes.tiff(maker: "NIKON", tags: [(0xFE, 1), (0x14A, 8)])),
        Sample("a.nef", "image/tiff", Bytes.tiff(maker: "Canon")),
        Sample("a.arw", "image/x-sony-arw", Bytes.tiff(maker: "SONY")),
        Sample("a.tif", "image/tiff", Bytes.tiff(maker: "NIKON")),
        Sample("a", "image/x-panasonic-rw2", Array("IIU\0".utf8) + Bytes.little(24)),
        Sample("a.hdr", "image/vnd.radiance", "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"),
    ])
    func `pictures are named by their marks`(sample: Sample) async throws {
        #expect(try await Self.type(of: sample, MIMEDetector()) == sample.expected)
    }

    @Test(arguments: [
        Sample(
            "a", "application/epub+zip",
            Bytes.zip([("x", ""), ("mimetype", "application/epub+zip")])),
        Sample(
            "a", "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Bytes.zip([("[Content_Types].xml", "<Types/>"), ("word/document.xml", "<w/>")])),
        Sample(
            "a", "application/vnd.ms-excel.sheet.macroenabled.12",
            Bytes.zip([("[Content_Types].xml", ""), ("xl/w.xml", ""), ("xl/vbaProject.bin", "")])),
        Sample("a.key", "application/vnd.apple.keynote", Bytes.zip([("Index/Document.iwa", "")])),
        Sample("a.docx", "application/zip", Bytes.zip([("hello.txt", "hello")])),
        Sample("a.svgz", "image/svg+xml-compressed", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0]),
        Sample("a.gz", "application/gzip", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0]),
    ])
    func `containers are named by what is in them`(sample: Sample) async throws {
        #expect(try await Self.type(of: sample, MIMEDetector()) == sample.expected)
    }

    @Test(arguments: [
        Sample("a", "image/svg+xml", "\u{FEFF}<!-- a <b> c --><svg xmlns='x'/>"),
        Sample("a", "image/svg+xml", "<?xml version='1.0'?><!DOCTYPE s [<!ENTITY a '>'>]><n:svg/>"),
        Sample("a", "image/svg+xml", "<!--" + String(repeating: "x", count: 9000) + "--><svg>"),
        Sample("a.svg", "text/html", "<html><body>502 Bad Gateway</body></html>"),
        Sample("a.xmp", "application/rdf+xml", "<?xpacket begin=''?><x:xmpmeta xmlns:x='y'/>"),
        Sample("a.xmp", "application/rdf+xml", "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"),
        Sample("a.gpx", "text/xml", "<?xml version='1.0'?><gpx/>"),
        Sample("a.txt", "text/plain", "P1 priority: call the plumber, then the baker\n"),
        Sample(
            "a.txt", "text/plain",
            "GIF89a is the name of an old format of pictures, and a good one\n"),
        Sample("a.txt", "text/plain", "%PDF- is how such a document begins\n"),
        Sample("a.pbm", "image/x-portable-bitmap", "P1\n# size\n2 2\n0 1\n1 0\n"),
        Sample("a.txt", "text/plain", "The free world\nand its mdat\n"),
        Sample(
            "a.pdf", "application/pdf",
            [UInt8](repeating: 0xF7, count: 1500) + [0, 3] + Array("%PDF-1.4\n".utf8)),
        Sample(
            "a.json", "application/json",
            "[" + String(repeating: "{\"key\": [1, 2, 3]},\n", count: 30_000) + "0]"),
    ])
    func `texts are named by what they say`(sample: Sample) async throws {
        #expect(try await Self.type(of: sample, MIMEDetector()) == sample.expected)
    }

    @Test func `an empty file has a type of its own`() async throws {
        let sample = Sample("a.jpg", "inode/x-empty", [UInt8]())
        #expect(try await Self.type(of: sample, MIMEDetector()) == "inode/x-empty")
    }

    @Test(arguments: [
        Sample("a", "image/jpeg", Bytes.jpeg()),
        Sample("a", "image/gif", Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3B]),
        Sample("a", "text/plain", "a line\n"),
        Sample("a", "application/octet-stream", [0, 1, 2, 3]),
    ])
    func `without the rules of libmagic the detector says so and goes on`(
        sample: Sample
    ) async throws {
        let detector = MIMEDetector(database: "/nonexistent/rules.mgc")
        #expect(!detector.usesLibmagic)
        #expect(detector.failure?.call == "magic_load")
        #expect(try await Self.type(of: sample, detector) == sample.expected)
    }

    @Test func `the offset of the descriptor stays where it was`() async throws {
        try await withTemporaryDirectory { folder in
            let file = try FileDescriptor.open(folder.appending("f"), O_RDWR | O_CREAT)
            try file.write(Bytes.jpeg(), at: 0)
            #expect(lseek(file.raw, 5, SEEK_SET) == 5)
            _ = try MIMEDetector().type(of: file, size: 40, name: "f")
            _ = try FileStructure.probe(file, size: 40)
            #expect(lseek(file.raw, 0, SEEK_CUR) == 5)
        }
    }
}
