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
            if error.code == .heldElsewhere {
                return CommandError(
                    .heldElsewhere,
                    "an agent of this home runs already, or another program uses its store: see "
                        + "`chute status`")
            }
            let code: ExitCode =
                switch error.code {
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
