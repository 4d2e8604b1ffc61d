package import ChuteSystem

/// What the bytes of an open file say of whether all of it is there.
///
/// Says nothing of whether the content is right, nor of whether someone still writes.
package enum FileStructure: Hashable, Sendable {
    /// The format's own end is reached.
    case complete
    /// The format's own end is missing.
    case cut
    /// The first 4 KiB are zeros: allocated, and not yet written.
    case zeroHead
    case empty
    /// A format without a known end, or one whose end does not tell.
    case unknown

    /// Looks at heads and tails, and at all of a file only where the format asks for it: at
    /// most 64 MiB are read, then the answer is `unknown`.
    ///
    /// Reads with `pread`: the descriptor's offset stays. Throws only where reading fails.
    /// Blocks.
    package static func probe(
        _ file: borrowing FileDescriptor, size: UInt64
    ) throws(SystemError) -> FileStructure {
        guard size > 0 else { return .empty }
        let bounded = try BoundedFile(file, size: size, headLength: 4096, budget: 64 << 20)
        let head = bounded.head
        guard !head.isEmpty else { return .empty }
        if head.isZero(in: 0..<head.count) { return .zeroHead }
        let found = try structure(of: bounded)
        return bounded.isExhausted ? .unknown : found
    }

    private static func structure(of file: BoundedFile) throws(SystemError) -> FileStructure {
        let head = file.head
        if head.has([0xFF, 0xD8, 0xFF]) {
            var scanner = JPEGStructure(file)
            return try scanner.probe()
        }
        if head.has(PNGType.signature) { return try PNGStructure.probe(file) }
        if head.has("GIF87a") || head.has("GIF89a") {
            var scanner = GIFStructure(file)
            return try scanner.probe()
        }
        if head.has("RIFF") { return try RIFFStructure.probe(file) }
        if head.has("PK\u{3}\u{4}") { return try ZIPStructure.probe(file) }
        // At most a byte order mark or an empty line stands before it.
        if head.firstIndex(of: "%PDF-", limit: 8) != nil { return try PDFStructure.probe(file) }
        if ISOStructure.isMedia(head) { return try ISOStructure.probe(file, from: 0) }
        // So short that even the mark is not all there; of texts that would be guessing.
        let marks: [[UInt8]] = [[0xFF, 0xD8, 0xFF], PNGType.signature]
        return marks.contains { $0.starts(with: head.bytes) } ? .cut : .unknown
    }
}
