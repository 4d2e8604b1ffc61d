import ChuteSystem
import DropFolder
import Glibc
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isPresent, "no corpus of real files: set CHUTE_CORPUS"))
struct CorpusStructureTests {
    /// The types whose end is known.
    private static let types: Set<String> = [
        "image/jpeg", "image/png", "image/apng", "image/gif", "image/webp", "image/avif",
        "image/heic", "image/heif", "image/heif-sequence", "image/x-canon-cr3", "image/jp2",
        "video/mp4", "video/quicktime", "video/3gpp", "audio/mp4", "audio/3gpp",
        "video/x-msvideo", "application/pdf", "application/epub+zip",
        "application/vnd.oasis.opendocument.text",
    ]

    /// Sound files that are not complete all the same, and why.
    private static let exceptions: [BytePath: FileStructure] = [
        // The last box is open-ended: any length would do.
        "avif/colors_hdr_p3.avif": .unknown,
        // Garbage behind the last box, of which the last "box" goes past the end.
        "avif/valid_with_garbage_overread.avif": .cut,
        // Said to be truncated or corrupt where it comes from.
        "gif/truncated.gif": .cut,
        "jpeg-odd/corrupt-header.jpg": .cut,
        // A block of another program behind the picture.
        "jpeg-gps/FotoStation.jpg": .unknown,
        // Reduced by their authors: announced film, content or boxes were taken out.
        "motion-photo/testJPEG_MicroVideo.jpg": .unknown,
        "motion-photo/testJPEG_MotionPhoto.jpg": .unknown,
        "motion-photo/testMP4_StillImageTimeZero.mov": .unknown,
        "raw/Canon-R6-pruned.CR3": .unknown,
        "raw/fixture.cr3": .cut,
        "video/bipbop_cbcs_video_init.mp4": .unknown,
        "video/fixture-dash.mp4": .cut,
        "video/fixture.f4v": .cut,
        "video/quicktime-jpeg.mov": .unknown,
        "video-gps/testMP4_udtaLocation.mp4": .unknown,
    ]

    private static func soundRows() throws -> [Corpus.Row] {
        try Corpus.rows().filter { row in
            types.contains(row.expected) && !row.kind.hasPrefix("hostile")
                && row.kind != "truncated"
        }
    }

    private static func probe(_ row: Corpus.Row) throws -> FileStructure {
        let file = try Corpus.open(row)
        return try FileStructure.probe(file, size: file.status().size)
    }

    @Test func `sound real files are complete`() throws {
        let rows = try Self.soundRows()
        #expect(rows.count > 200)
        for row in rows {
            #expect(try Self.probe(row) == Self.exceptions[row.path] ?? .complete, "\(row)")
        }
    }

    @Test func `real files cut or allocated at 60 of 100 are not complete`() async throws {
        try await withTemporaryDirectory { folder in
            for row in try Self.soundRows() {
                let file = try Corpus.open(row)
                let size = try file.status().size
                let kept = size * 6 / 10
                let part = try FileDescriptor.open(
                    folder.appending("part"), O_RDWR | O_CREAT | O_TRUNC)
                try part.write(file.read(count: Int(kept), at: 0), at: 0)
                #expect(try FileStructure.probe(part, size: kept) != .complete, "\(row)")
                try part.truncate(to: size)
                #expect(try FileStructure.probe(part, size: size) != .complete, "\(row)")
            }
        }
    }

    @Test(
        arguments: [
            ("truncated/broken.png", .cut),
            ("truncated/broken_data_stream.png", .cut),
            ("truncated/truncated.png", .cut),
            ("truncated/truncated_jpeg.jpg", .cut),
            ("zero-byte/empty.jpg", .empty),
            // Wrong inside, but with their ends; and a type without a known end.
            ("truncated/fixture-corrupt.png", .complete),
            ("truncated/truncated_exif_dpi.jpg", .complete),
            ("truncated/fixture-corrupt.mkv", .unknown),
        ] as [(BytePath, FileStructure)])
    func `truncated real files are cut`(path: BytePath, expected: FileStructure) throws {
        let row = Corpus.Row(kind: "", path: path, expected: "")
        #expect(try Self.probe(row) == expected)
    }

    @Test func `damaged real files neither trap nor read without end`() async throws {
        let detector = MIMEDetector()
        try await withTemporaryDirectory { folder in
            var generator = SplitMix(state: 2)
            for row in try Corpus.rows() {
                let file = try Corpus.open(row)
                var bytes = try file.read(count: 64 << 10, at: 0)
                guard !bytes.isEmpty else { continue }
                for _ in 0..<2 {
                    for _ in 0..<6 {
                        let place = generator.next(below: min(bytes.count, 512))
                        bytes[place] =
                            [0, 1, 0x7F, 0xFF, UInt8(generator.next(below: 256))][
                                generator.next(below: 5)]
                    }
                    bytes.removeLast(generator.next(below: max(bytes.count / 8, 1)))
                    let damaged = try FileDescriptor.open(
                        folder.appending("damaged"), O_RDWR | O_CREAT | O_TRUNC)
                    try damaged.write(bytes, at: 0)
                    for size in [UInt64(bytes.count), .max] {
                        _ = try detector.type(of: damaged, size: size, name: row.path)
                        _ = try FileStructure.probe(damaged, size: size)
                    }
                }
            }
        }
    }
}

/// Numbers that are the same in every run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func next(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}
