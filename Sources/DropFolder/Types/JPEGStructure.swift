import ChuteSystem

/// JPEG ends with the marker EOI of its own level; the one of a thumbnail within a segment does
/// not count. What phones put behind it (further pictures, a film) must be whole too.
struct JPEGStructure {
    private let file: BoundedFile
    private var scanner: ByteScanner
    /// The first picture says that a film follows it.
    private var announcesFilm = false
    /// Where the first picture says that others follow it.
    private var index: MultiPictureIndex?

    private static let mostPictures = 32
    private static let mostSegments = 100_000

    init(_ file: BoundedFile) {
        self.file = file
        scanner = ByteScanner(file, at: 0)
    }

    mutating func probe() throws(SystemError) -> FileStructure {
        // Segments are short: most files are known to be whole before a picture is read.
        if try reachesScan(), try endsWithMarker(), !announcesFilm {
            if try index?.isWhole(in: file) ?? true { return .complete }
        }
        scanner = ByteScanner(file, at: 0)
        for count in 0..<Self.mostPictures {
            guard try reachesEnd() else { return .cut }
            guard let next = try nextContent() else {
                let isAnnounced = count == 0 && (announcesFilm || index != nil)
                if scanner.position < file.size { return isAnnounced ? .cut : .complete }
                return isAnnounced ? .unknown : .complete
            }
            guard try file.read(at: next, count: 3).has([0xFF, 0xD8, 0xFF]) else {
                return try trailer(at: next)
            }
            scanner = ByteScanner(file, at: next)
        }
        return .unknown
    }

    private func endsWithMarker() throws(SystemError) -> Bool {
        try file.tail(count: 2).has([0xFF, 0xD9])
    }

    /// Walks the segments before the first scan; false where they do not lead to one.
    private mutating func reachesScan() throws(SystemError) -> Bool {
        scanner.skip(2)
        for _ in 0..<Self.mostSegments {
            guard let marker = try nextMarker(), marker != 0xD9, try skipSegment(marker) else {
                return false
            }
            if marker == 0xDA { return true }
        }
        return false
    }

    /// Walks one picture, all of it, to behind its EOI.
    private mutating func reachesEnd() throws(SystemError) -> Bool {
        scanner.skip(2)
        for _ in 0..<Self.mostSegments {
            guard let marker = try nextMarker() else { return false }
            if marker == 0xD9 { return true }
            guard try skipSegment(marker) else { return false }
        }
        return false
    }

    /// The next marker that is not part of a scan. Junk before it is passed over, as readers do.
    private mutating func nextMarker() throws(SystemError) -> UInt8? {
        while try scanner.skip(past: 0xFF) {
            var marker: UInt8 = 0xFF
            while marker == 0xFF {
                guard let byte = try scanner.next() else { return nil }
                marker = byte
            }
            switch marker {
            case 0x00, 0x01, 0xD0...0xD8: continue
            default: return marker
            }
        }
        return nil
    }

    /// Passes the segment behind `marker`; false where it does not end in the file.
    private mutating func skipSegment(_ marker: UInt8) throws(SystemError) -> Bool {
        let start = scanner.position
        guard let length = try scanner.number(2), length >= 2, start + length <= file.size else {
            return false
        }
        if marker == 0xE1 || marker == 0xE2, index == nil || !announcesFilm {
            try note(at: start + 2, count: Int(length - 2))
        }
        scanner.skip(length - 2)
        return true
    }

    private mutating func note(at place: UInt64, count: Int) throws(SystemError) {
        let segment = try file.read(at: place, count: count)
        if segment.has("MPF\0") {
            index = index ?? MultiPictureIndex(segment, at: place)
        } else if segment.has("http://ns.adobe.com/xap/1.0/\0") {
            let marks = ["MotionPhoto=\"1\"", "MicroVideo=\"1\"", "MotionPhoto>1", "MicroVideo>1"]
            if marks.contains(where: { segment.firstIndex(of: $0) != nil }) { announcesFilm = true }
        }
    }

    /// Where something other than filling begins behind the picture; `nil` where nothing does.
    private func nextContent() throws(SystemError) -> UInt64? {
        var rest = scanner
        while let byte = try rest.next() {
            if byte != 0 { return rest.position - 1 }
        }
        return nil
    }

    /// What follows is no JPEG: a film must be whole; of the blocks of makers and archives
    /// nobody here knows the end.
    private func trailer(at place: UInt64) throws(SystemError) -> FileStructure {
        // The size that a film begins with has zeros in front, passed over as filling.
        for zeros in 0...min(3, place - scanner.position)
        where try file.read(at: place - zeros + 4, count: 4).has("ftyp") {
            let film = try ISOStructure.probe(file, from: place - zeros)
            if film == .complete { return .complete }
            return try file.tail(count: 4).has("SEFT") ? .complete : film
        }
        // The index that some phones put behind their blocks comes last.
        if try file.tail(count: 4).has("SEFT") { return .complete }
        return .unknown
    }
}
