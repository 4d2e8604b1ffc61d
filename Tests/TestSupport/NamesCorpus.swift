import FoundationEssentials
import Testing

/// The awkward names of `../shared/corpus/names.json`, or of the folder in `CHUTE_CORPUS`.
package enum NamesCorpus {
    package struct Name: Decodable, Sendable, CustomTestStringConvertible {
        package let id: Int
        package let hex: String
        package let origin: String
        package let display: String

        package var bytes: [UInt8] {
            let digits = hex.compactMap(\.hexDigitValue)
            return stride(from: 0, to: digits.count, by: 2).map {
                UInt8(digits[$0] << 4 | digits[$0 + 1])
            }
        }

        package var testDescription: String { "\(id) \(display.prefix(40))" }
    }

    /// Empty where the corpus is not there: tests over it are skipped.
    package static let names: [Name] = {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        do { return try JSONDecoder().decode([Name].self, from: data) } catch {
            Issue.record("names.json cannot be read: \(error)")
            return []
        }
    }()

    package static var isPresent: Bool { FileManager.default.fileExists(atPath: path) }

    private static var path: String { Corpus.folder.appending("names.json").string ?? "" }
}
