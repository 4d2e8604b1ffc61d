import ChuteSystem
import FoundationEssentials
import Testing

/// The awkward names of `../shared/corpus/names.json`, or of the folder in `CHUTE_CORPUS`.
enum NamesCorpus {
    struct Name: Decodable, Sendable, CustomTestStringConvertible {
        let id: Int
        let hex: String
        let origin: String
        let display: String

        var bytes: [UInt8] { Hexadecimal.bytes(hex) ?? [] }

        var testDescription: String { "\(id) \(display.prefix(40))" }
    }

    /// Empty where the corpus is not there: tests over it are skipped.
    static let names: [Name] = {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        do { return try JSONDecoder().decode([Name].self, from: data) } catch {
            Issue.record("names.json cannot be read: \(error)")
            return []
        }
    }()

    static var isPresent: Bool { FileManager.default.fileExists(atPath: path) }

    private static var path: String {
        if let folder = ProcessInfo.processInfo.environment["CHUTE_CORPUS"] {
            return folder + "/names.json"
        }
        var root = BytePath(#filePath)
        for _ in 0..<4 { root = root.parent }
        return root.parent.appending("shared/corpus/names.json").string ?? ""
    }
}
