import ChuteKit
import ChuteSystem

/// The name of a file in staging: `<document>-<version>-<random>`. Given once, since a withdrawn
/// want may still be written to.
enum StagedName {
    private static let documentCount = 32

    static func of(_ document: DocumentID, version: UInt64) -> BytePath {
        BytePath(
            "\(document.hex.prefix(documentCount))-\(version)-"
                + String(UInt32.random(in: .min ... .max), radix: 36))
    }

    /// The first bytes of the id of the document that a name of ours was given for: enough to
    /// find its row.
    static func documentPrefix(of name: BytePath) -> [UInt8]? {
        guard isOurs(name), let digits = name.string?.prefix(documentCount) else { return nil }
        return Hexadecimal.bytes(String(digits))
    }

    /// Whether a name can be one of ours: people do not name their files so.
    static func isOurs(_ name: BytePath) -> Bool {
        guard let parts = name.string?.split(separator: "-", omittingEmptySubsequences: false),
            parts.count == 3
        else { return false }
        return parts[0].utf8.count == documentCount && parts[0].allSatisfy(\.isHexDigit)
            && UInt64(parts[1]) != nil && UInt32(parts[2], radix: 36) != nil
    }
}
