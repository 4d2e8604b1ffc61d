import ChuteSystem

/// The index of a multi-picture JPEG (CIPA DC-007): where each picture lies in the file.
struct MultiPictureIndex {
    private let pictures: [(start: UInt64, length: UInt64)]

    /// Reads the segment `MPF` whose bytes stand at `place`. Empty where it makes no sense.
    init(_ segment: Excerpt, at place: UInt64) {
        pictures = Self.pictures(segment, at: place)
    }

    /// Whether every picture lies in the file, begins as a JPEG and has its end.
    ///
    /// False also where the index is wrong, as editors leave it: then the pictures have to be
    /// read.
    func isWhole(in file: BoundedFile) throws(SystemError) -> Bool {
        guard !pictures.isEmpty else { return false }
        for picture in pictures {
            let end = picture.start + picture.length
            guard picture.length >= 4, end <= file.size,
                try file.read(at: picture.start, count: 2).has([0xFF, 0xD8]),
                try hasEnd(file, before: end)
            else { return false }
        }
        return true
    }

    /// Whether an EOI stands at `end`, or before some filling of zeros.
    private func hasEnd(_ file: BoundedFile, before end: UInt64) throws(SystemError) -> Bool {
        let tail = try file.read(at: end - min(end, 512), count: Int(min(end, 512)))
        let used = tail.bytes.reversed().drop { $0 == 0 }
        return used.starts(with: [0xD9, 0xFF])
    }

    private static func pictures(
        _ segment: Excerpt, at place: UInt64
    ) -> [(start: UInt64, length: UInt64)] {
        let base = 4
        let order: Excerpt.ByteOrder = segment.has("II", at: base) ? .little : .big
        guard let directory = segment.number(4, at: base + 4, order),
            let count = segment.number(2, at: base + Int(directory), order)
        else { return [] }
        for entry in 0..<min(Int(count), 64) {
            let at = base + Int(directory) + 2 + entry * 12
            guard segment.number(2, at: at, order) == 0xB002,
                let bytes = segment.number(4, at: at + 4, order),
                let table = segment.number(4, at: at + 8, order)
            else { continue }
            return (0..<min(Int(bytes / 16), 64)).compactMap { picture in
                let at = base + Int(table) + picture * 16
                guard let length = segment.number(4, at: at + 4, order),
                    let offset = segment.number(4, at: at + 8, order)
                else { return nil }
                return (offset == 0 ? 0 : place + UInt64(base) + offset, length)
            }
        }
        return []
    }
}
