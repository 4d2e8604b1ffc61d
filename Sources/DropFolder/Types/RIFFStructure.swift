import ChuteSystem

/// RIFF (WebP, AVI, WAVE) says its length first; long AVI files are several such chunks.
enum RIFFStructure {
    static func probe(_ file: BoundedFile) throws(SystemError) -> FileStructure {
        var position: UInt64 = 0
        for _ in 0..<256 {
            let header = try file.read(at: position, count: 12)
            if position == 0, header.count < 12 { return .cut }
            guard header.has("RIFF") else { break }
            guard let length = header.number(4, at: 4, .little) else { return .cut }
            // Writers that cannot go back leave the length open.
            guard length > 0, length < 0xFFFF_FFFF else { return .unknown }
            position += 8 + length
            guard position <= file.size else { return .cut }
            position += length & 1
        }
        guard try hasZeroTail(file, before: min(position, file.size)) else { return .complete }
        // Sound often ends in silence; pictures do not.
        return file.head.has("WAVE", at: 8) ? .unknown : .cut
    }

    /// Whether the last bytes before `end`, where content is due, are zeros, as in a file that
    /// was allocated at full length and is still being written.
    static func hasZeroTail(_ file: BoundedFile, before end: UInt64) throws(SystemError) -> Bool {
        let count = Int(min(4096, end / 4))
        guard count >= 16 else { return false }
        let tail = try file.read(at: end - UInt64(count), count: count)
        return tail.isZero(in: 0..<tail.count)
    }
}
