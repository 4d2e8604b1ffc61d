import ChuteSystem
import DropFolder
import Glibc

/// The one place that connects the command line to the library and the agent.
enum Wiring {
    static let keys = DeviceKeys(create: create, load: load, replace: replace)

    @Sendable private static func create(_ path: BytePath) throws -> String {
        var random = SystemRandomNumberGenerator()
        let key = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        try NewFile.write(key, to: path, mode: 0o600)
        return try load(path)
    }

    @Sendable private static func load(_ path: BytePath) throws -> String {
        let file = try FileDescriptor.open(path, O_RDONLY)
        return try file.read(count: 8, at: 0).map { String($0, radix: 16) }.joined()
    }

    @Sendable private static func replace(_ home: Home) throws -> String {
        try Folder(at: home.stateFolder).remove(home.keyFile.lastComponent)
        return try create(home.keyFile)
    }

    static func agent(
        _ home: Home, _ environment: ProcessEnvironment, _ log: Log
    ) -> any AgentAccess {
        UnconnectedAgent()
    }
}
