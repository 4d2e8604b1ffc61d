import ChuteSystem
import Glibc

/// The folder of real files beside the project, if it is there: `CHUTE_CORPUS`, or
/// `../shared/corpus` from the package's root.
enum Corpus {
    struct Row: Sendable, CustomStringConvertible {
        let kind: String
        let path: BytePath
        let expected: String

        var description: String { path.description }
    }

    static let folder: BytePath = {
        if let set = getenv("CHUTE_CORPUS") { return BytePath(String(cString: set)) }
        var root = BytePath(#filePath)
        for _ in 0..<4 { root = root.parent }
        return root.parent.appending("shared/corpus")
    }()

    static let isPresent = (try? FileStatus.of(folder.appending("manifest.tsv"))) != nil

    static func rows() throws -> [Row] {
        let file = try FileDescriptor.open(folder.appending("manifest.tsv"), O_RDONLY)
        let bytes = try file.read(count: Int(file.status().size), at: 0)
        return bytes.split(separator: 0x0A).dropFirst().compactMap { line in
            let fields = line.split(separator: 0x09, omittingEmptySubsequences: false)
            guard fields.count > 4 else { return nil }
            return Row(
                kind: String(decoding: fields[0], as: UTF8.self),
                path: BytePath(bytes: fields[1]),
                expected: String(decoding: fields[4], as: UTF8.self))
        }
    }

    static func open(_ row: Row) throws -> FileDescriptor {
        try FileDescriptor.open(folder.appending(row.path), O_RDONLY)
    }
}
