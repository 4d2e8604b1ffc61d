import ChuteKit
import DropFolder

extension CommandError {
    /// What a person is told of an error of the agent or its engine; others stay as they are.
    static func told(_ error: any Error) -> any Error {
        switch error {
        case let error as AgentError:
            let code: ExitCode =
                switch error.kind {
                case .configuration: .configuration
                case .heldElsewhere: .heldElsewhere
                case .failed: .failed
                }
            return CommandError(code, error.description)
        case let error as ChuteError:
            let code: ExitCode =
                switch error.code {
                case .heldElsewhere: .heldElsewhere
                case .deviceKey, .storeIsNewer, .storeIsDamaged, .file, .notADirectory,
                    .notWritable,
                    .networkFileSystem, .wrongIdentity:
                    .configuration
                case .unreachable: .unavailable
                default: .failed
                }
            return CommandError(code, error.description)
        default: return error
        }
    }
}
