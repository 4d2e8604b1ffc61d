/// Why a file does not come, by who is known to have it. A value without I/O.
package struct HolderWords {
    package struct Holder {
        let name: String
        /// Whether this device connects to it at all.
        let isTalkedTo: Bool
        let isConnected: Bool

        package init(name: String, isTalkedTo: Bool, isConnected: Bool) {
            self.name = name
            self.isTalkedTo = isTalkedTo
            self.isConnected = isConnected
        }
    }

    private let holders: [Holder]

    package init(_ holders: [Holder]) { self.holders = holders }

    package var text: String {
        guard !holders.isEmpty else { return "no member is known to have it: drop it anew" }
        let away = holders.filter { $0.isTalkedTo && !$0.isConnected }.map(\.name)
        guard away.isEmpty else {
            return "\(Self.list(away)) \(away.count == 1 ? "has" : "have") it and "
                + "\(away.count == 1 ? "is" : "are") not reachable: comes when "
                + "\(away.joined(separator: " or ")) is connected"
        }
        let here = holders.filter(\.isTalkedTo).map(\.name)
        guard here.isEmpty else {
            return "\(Self.list(here)) had it and does not any more: drop it anew there"
        }
        let senders = holders.map(\.name)
        return "\(Self.list(senders)) \(senders.count == 1 ? "has" : "have") it and can be reached "
            + "by owners alone: comes when one of them passes it on"
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: " and ") }
}
