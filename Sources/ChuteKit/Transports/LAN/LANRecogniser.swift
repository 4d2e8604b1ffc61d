/// Remembers who was recognised by which record, so that each is looked at once.
struct LANRecogniser {
    private var discovery: Discovery?
    /// With those of whom nobody was recognised.
    private var known: [[[UInt8]]: DeviceID?] = [:]

    /// The member that `text` is a record of.
    mutating func member(_ text: [[UInt8]], of discovery: Discovery) -> DeviceID? {
        if self.discovery != discovery {
            self.discovery = discovery
            known = [:]
        }
        if let device = known[text] { return device }
        let device = DiscoveryRecord(text: text)?.member(of: discovery)
        known[text] = .some(device)
        return device
    }

    /// Forgets what is not to be seen any more.
    mutating func keepOnly(_ texts: some Sequence<[[UInt8]]>) {
        let texts = Set(texts)
        known = known.filter { texts.contains($0.key) }
    }
}
