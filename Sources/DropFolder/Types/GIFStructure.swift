import ChuteSystem

/// GIF ends with a trailer byte where a block would begin: the blocks are walked, because that
/// byte stands in the middle of pictures too.
struct GIFStructure {
    private var scanner: ByteScanner

    init(_ file: BoundedFile) { scanner = ByteScanner(file, at: 10) }

    mutating func probe() throws(SystemError) -> FileStructure {
        guard let flags = try scanner.next() else { return .cut }
        scanner.skip(2 + Self.colorTableLength(flags))
        while let block = try scanner.next() {
            switch block {
            case 0x3B: return .complete
            case 0x21: scanner.skip(1)
            case 0x2C:
                scanner.skip(8)
                guard let flags = try scanner.next() else { return .cut }
                scanner.skip(Self.colorTableLength(flags) + 1)
            case 0: continue
            default: return .unknown
            }
            guard try skipPieces() else { return .cut }
        }
        return .cut
    }

    private mutating func skipPieces() throws(SystemError) -> Bool {
        while let length = try scanner.next() {
            if length == 0 { return true }
            scanner.skip(UInt64(length))
        }
        return false
    }

    private static func colorTableLength(_ flags: UInt8) -> UInt64 {
        flags & 0x80 == 0 ? 0 : 3 << (UInt64(flags & 7) + 1)
    }
}
