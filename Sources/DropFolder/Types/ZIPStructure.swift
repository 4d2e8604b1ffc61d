import ChuteSystem

/// ZIP ends with a record that says where its directory lies.
///
/// The record must be the last thing in the file and lead to the directory just before it: the
/// end of an archive within the archive does not count.
enum ZIPStructure {
    static func probe(_ file: BoundedFile) throws(SystemError) -> FileStructure {
        guard let (place, record) = try ZIPDirectory.endRecord(of: file),
            let comment = record.number(2, at: 20, .little),
            let size = record.number(4, at: 12, .little),
            let start = record.number(4, at: 16, .little)
        else { return .cut }
        guard place + 22 + comment == file.size else {
            return place + 22 + comment > file.size ? .cut : .unknown
        }
        if start == 0xFFFF_FFFF || size == 0xFFFF_FFFF {
            // ZIP64: the true numbers stand in a record of their own, found by its locator.
            let locator = try file.read(at: place - min(place, 20), count: 4)
            return locator.has("PK\u{6}\u{7}") ? .complete : .unknown
        }
        guard start + size <= place else { return .cut }
        let entry = try file.read(at: start, count: 4)
        return size == 0 || entry.has("PK\u{1}\u{2}") ? .complete : .unknown
    }
}
