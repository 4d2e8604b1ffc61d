import ChuteSystem

extension Transaction {
    /// What this device wants of others from now on; whether that is news.
    ///
    /// How far the streams of others had come says nothing about what was not wanted until now.
    func subscribe(_ subscription: Subscription) throws -> Bool {
        let bytes = try subscription.encoded()
        guard subscription != state.subscription else { return false }
        state.subscription = subscription
        if let bytes {
            try database.prepare("INSERT OR REPLACE INTO meta VALUES ('subscription', ?)")
                .run(bytes)
        } else {
            try database.execute("DELETE FROM meta WHERE key = 'subscription'")
        }
        try database.execute("DELETE FROM cursors")
        return true
    }
}
