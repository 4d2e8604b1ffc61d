package import ChuteKit
package import ChuteSystem

/// Until when who asked waits for the answer.
///
/// What nobody waits for any more is not done: a `leave` that a person gave up on must not happen
/// when the agent is started a day later.
extension AgentRequest {
    /// The request as it lies in the database.
    package func fields(until deadline: BootMoment) -> Fields {
        var fields = fields
        fields["until"] = .integer(deadline.nanoseconds)
        fields["boot"] = .bytes(deadline.boot)
        return fields
    }

    /// The deadline of a row; `nil` where it has none.
    static func deadline(of fields: Fields) -> BootMoment? {
        guard let time = fields["until"]?.integer, let boot = fields["boot"]?.bytes else {
            return nil
        }
        return BootMoment(boot: boot, nanoseconds: time)
    }
}
