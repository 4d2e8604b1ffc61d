package import ChuteSystem
import Glibc

/// The folder of real files beside the project, if it is there: `CHUTE_CORPUS`, or
/// `../shared/corpus` from the package's root.
package enum Corpus {
    package struct Row: Sendable, CustomStringConvertible {
        package let kind: String
        package let path: BytePath
        package let expected: String

        package init(kind: String, path: BytePath, expected: String) {
            self.kind = kind
            self.path = path
            self.expected = expected
        }

        package var description: String { path.description }
    }

    package static let folder: BytePath = {
        if let set = getenv("CHUTE_CORPUS") { return BytePath(String(cString: set)) }
        var root = BytePath(#filePath)
        for _ in 0..<3 { root = root.parent }
        return root.parent.appending("shared/corpus")
    }()

    package static let isPresent = (try? FileStatus.of(folder.appending("manifest.tsv"))) != nil

    package static func rows() throws -> [Row] {
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

    package static func open(_ row: Row) throws -> FileDescriptor {
        try FileDescriptor.open(folder.appending(row.path), O_RDONLY)
    }
}
