import ChuteSystem
import FoundationEssentials
import Testing

/// The names of `../shared/corpus/names.json`, or of the folder in `CHUTE_CORPUS`, that no file
/// can have but that a peer can send.
enum HostileNames {
    private struct Row: Decodable {
        let hex: String
        let origin: String
    }

    static var isPresent: Bool { FileManager.default.fileExists(atPath: file) }

    static func all() throws -> [[UInt8]] {
        let rows = try JSONDecoder().decode(
            [Row].self, from: Data(contentsOf: URL(filePath: file)))
        return rows.filter { $0.origin == "peer" }.map { row in
            let digits = row.hex.compactMap(\.hexDigitValue)
            return stride(from: 0, to: digits.count, by: 2).map {
                UInt8(digits[$0] << 4 | digits[$0 + 1])
            }
        }
    }

    private static var file: String {
        if let folder = ProcessInfo.processInfo.environment["CHUTE_CORPUS"] {
            return folder + "/names.json"
        }
        var root = BytePath(#filePath)
        for _ in 0..<4 { root = root.parent }
        return root.parent.appending("shared/corpus/names.json").string ?? ""
    }
}

extension Trait where Self == ConditionTrait {
    static var hostileNames: Self {
        .enabled(if: HostileNames.isPresent, "no corpus of names: set CHUTE_CORPUS")
    }
}
