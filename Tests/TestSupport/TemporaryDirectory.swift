package import ChuteSystem
import Glibc

/// Calls `body` with a fresh folder, mode 0700, and removes the folder and all in it afterwards.
package func withTemporaryDirectory<Result>(
    in parent: BytePath = "/tmp", _ body: (BytePath) async throws -> Result
) async throws -> Result {
    var template = Array((parent.appending("chute-test-XXXXXX")).bytes.map(CChar.init(bitPattern:)))
    template.append(0)
    guard mkdtemp(&template) != nil else { throw SystemError.current("mkdtemp", parent) }
    let path = BytePath(bytes: template.dropLast().map(UInt8.init(bitPattern:)))
    let result: Result
    do {
        result = try await body(path)
    } catch {
        try Folder(at: parent).removeTree(path.lastComponent)
        throw error
    }
    try Folder(at: parent).removeTree(path.lastComponent)
    return result
}
