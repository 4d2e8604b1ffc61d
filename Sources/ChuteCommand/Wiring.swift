import ChuteKit
import ChuteSystem
import DropFolder

/// The one place that connects the command line to the library and the agent.
enum Wiring {
    static let keys = DeviceKeys(
        create: { path in try DeviceKeyFile(in: path.parent).makeIfMissing().description },
        load: { path in
            guard let id = try DeviceKeyFile(in: path.parent).deviceID() else {
                throw CommandError(
                    .configuration, "there is no device key at \(path): run `chute init`")
            }
            return id.description
        },
        replace: { home in
            let lock = try DirectoryLock(home.stateFolder)
            defer { withExtendedLifetime(lock) {} }
            return try DeviceKeyFile(in: home.stateFolder).replace().description
        })

    static func agent(
        _ home: Home, _ environment: ProcessEnvironment, _ log: Log
    ) -> any AgentAccess {
        HomeAgent(home: home, log: log)
    }
}
