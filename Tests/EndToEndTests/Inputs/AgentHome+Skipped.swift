import ChuteSystem
import FoundationEssentials
import TestSupport
import Testing

extension AgentHome {
    private struct List: Decodable {
        let skipped: [AgentStatus.Skipped]
    }

    /// What `list --skipped` says: names by their bytes, with their reasons.
    func skipped() async throws -> [BytePath: String] {
        let result = try await chute("list", "--skipped", "--json")
        try #require(result.exitCode == 0, "\(result.error)")
        let list = try JSONDecoder().decode(List.self, from: Data(result.output.utf8))
        var reasons: [BytePath: String] = [:]
        for skip in list.skipped {
            let bytes = skip.pathBytes.flatMap { Data(base64Encoded: $0) }.map(Array.init)
            reasons[bytes.map { BytePath(bytes: $0) } ?? BytePath(skip.path)] = skip.reason
        }
        return reasons
    }
}
