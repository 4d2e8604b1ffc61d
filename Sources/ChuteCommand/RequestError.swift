/// What the agent answered when it could not do something.
struct RequestError: Error {
    let code: String
    let message: String
}
