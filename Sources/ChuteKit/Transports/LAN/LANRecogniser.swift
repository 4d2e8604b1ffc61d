/// Remembers who was recognised by which record, so that each is looked at once.
struct LANRecogniser {
    private var discovery: Discovery?
    private var known: [[[UInt8]]: DiscoveryRecord.Origin] = [:]

    /// Whose record `text` is.
    mutating func origin(
        of text: [[UInt8]], in discovery: Discovery
    ) -> DiscoveryRecord.Origin {
        if self.discovery != discovery {
            self.discovery = discovery
            known = [:]
        }
        if let origin = known[text] { return origin }
        let origin = DiscoveryRecord(text: text)?.origin(in: discovery) ?? .nobody
        known[text] = origin
        return origin
    }

    /// Forgets what is not to be seen any more.
    mutating func keepOnly(_ texts: some Sequence<[[UInt8]]>) {
        let texts = Set(texts)
        known = known.filter { texts.contains($0.key) }
    }
}
