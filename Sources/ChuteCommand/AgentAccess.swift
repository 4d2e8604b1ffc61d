import ChuteSystem
import DropFolder

/// What the commands ask of the agent and its database, running or not.
///
/// Every method may throw a `CommandError`, which is printed as it is.
protocol AgentAccess: Sendable {
    /// Runs the agent until SIGTERM or SIGINT. `moved`: the home was moved here on purpose.
    func run(moved: Bool) async throws -> ExitCode

    /// Whether an agent runs for this home.
    func isRunning() async throws -> Bool

    /// Records what lies in the inboxes as `existing`, so that it is not shared.
    func leaveOutExisting() async throws -> ExistingFiles

    func invite(role: InviteCommand.Role, uses: Int, expires: Duration) async throws -> Invitation
    func invitations() async throws -> [Invitation]
    /// `false` where there is no such invitation.
    func revokeInvitation(_ id: String) async throws -> Bool
    /// Those who join by an invitation, as they come; ends when no use is left or it expires.
    /// Runs an agent meanwhile where none does.
    func joins(of invitation: Invitation) async throws -> AsyncThrowingStream<Joined, any Error>

    /// Becomes a member by a ticket; throws `JoinFailure` where that does not work.
    func join(ticket: String) async throws -> JoinOutcome
    /// Forgets the space and its members. Throws where the space is a shared-key one, and unless
    /// `isForced` where others would be left without an owner.
    func leave(isForced: Bool) async throws -> LeaveOutcome

    /// Whether this device is in the space of a shared key.
    func hasSharedKey() async throws -> Bool
    func peers() async throws -> [StatusReport.Peer]
    /// Takes a member out by name or id, or the beginning of an id.
    func removePeer(_ nameOrID: String) async throws -> MemberOutcome
    func setRole(_ role: InviteCommand.Role, of nameOrID: String) async throws -> MemberOutcome

    func status() async throws -> StatusReport
    /// The status again and again, as it changes; ends when the task is cancelled.
    func statusUpdates() async throws -> AsyncThrowingStream<StatusReport, any Error>
    func documents(onlySkipped: Bool) async throws -> DocumentList

    /// What `doctor` finds, with the running agent's help where one runs. Takes some seconds.
    func examine() async throws -> [Finding]

    /// By document id, or by path in the outbox. The number of files that come again.
    func redeliver(_ target: BytePath) async throws -> Int
    func retract(_ target: BytePath) async throws -> RetractOutcome
}

/// What lay in the inboxes and is left out.
struct ExistingFiles: Hashable, Sendable {
    var count: Int
    var byteCount: UInt64
}

/// A device that became a member by an invitation.
struct Joined: Hashable, Sendable {
    var name: String
    var id: String
    var address: String
    var usesLeft: Int
}

struct JoinOutcome: Hashable, Sendable {
    var space: String
    /// The name of the device that invited.
    var inviter: String
    var wasMemberAlready: Bool
    /// A member that the ticket made an owner.
    var isPromoted = false
    /// Why a ticket was not taken that could have made a member an owner.
    var refusal: JoinFailure?
}

/// Why a ticket did not make this device a member.
enum JoinFailure: Error, Hashable, Sendable {
    case notATicket
    case expired
    case usedUp
    case revoked
    /// Somebody answered, but not the device that made the ticket.
    case wrongDevice(address: String)
    case unreachable(addresses: [String])
    case inSpaceWithOthers(members: Int)
    /// Why, in the words of the agent.
    case other(String)
    /// This home is in a shared-key space.
    case sharedKeySpace
}

struct LeaveOutcome: Hashable, Sendable {
    /// `nil` where this device was in no space.
    var space: String?
    var members: Int
    /// What the others call this device.
    var name: String
}

/// What became of a wish about one member.
enum MemberOutcome: Hashable, Sendable {
    case done(name: String, id: String)
    case unknown
    /// Several members have that name; their ids.
    case ambiguous([String])
    /// Whoever holds the key file is a member, and all are alike.
    case sharedKeySpace
    /// Only owners may.
    case notOwner
}

enum RetractOutcome: Hashable, Sendable {
    /// `delivered`: the names of the peers that have it already, or `had` of the `count` files
    /// of a folder.
    case retracted(name: BytePath, count: Int, had: Int, delivered: [String])
    case unknown
    /// Only its origin takes a file back; the origin's name.
    case notOwn(origin: String)
}
