import ChuteSystem
import DropFolder

/// Stands where no agent is connected to the program: every request is refused.
struct UnconnectedAgent: AgentAccess {
    private var refusal: CommandError {
        CommandError(.unavailable, "this build of chute has no agent: use a complete build")
    }

    func run(moved: Bool) async throws -> ExitCode { throw refusal }
    func isRunning() async throws -> Bool { throw refusal }
    func leaveOutExisting() async throws -> ExistingFiles { throw refusal }
    func invite(role: InviteCommand.Role, uses: Int, expires: Duration) async throws -> Invitation {
        throw refusal
    }
    func invitations() async throws -> [Invitation] { throw refusal }
    func revokeInvitation(_ id: String) async throws -> Bool { throw refusal }
    func joins(of invitation: Invitation) async throws -> AsyncThrowingStream<Joined, any Error> {
        throw refusal
    }
    func join(ticket: String) async throws -> JoinOutcome { throw refusal }
    func leave() async throws -> LeaveOutcome { throw refusal }
    func peers() async throws -> [StatusReport.Peer] { throw refusal }
    func removePeer(_ nameOrID: String) async throws -> RemovalOutcome { throw refusal }
    func status() async throws -> StatusReport { throw refusal }
    func statusUpdates() async throws -> AsyncThrowingStream<StatusReport, any Error> {
        throw refusal
    }
    func documents(onlySkipped: Bool) async throws -> DocumentList { throw refusal }
    func redeliver(_ target: BytePath) async throws -> Int { throw refusal }
    func retract(_ target: BytePath) async throws -> RetractOutcome { throw refusal }
}
