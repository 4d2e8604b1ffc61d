/// Speeds as a person writes and reads them.
package enum ByteRate {
    private static let bitUnits: [(name: String, bits: UInt64)] = [
        ("bit", 1), ("kbit", 1000), ("mbit", 1_000_000), ("gbit", 1_000_000_000),
    ]

    /// The least that a connection is kept alive with, in bytes a second.
    package static let least: UInt64 = 1000

    /// Reads `10 MB/s` and `80 Mbit/s` into bytes a second; `nil` where it is none, does not fit or
    /// is below `least` without being 0.
    package static func parse(_ text: String) -> UInt64? {
        guard text.hasSuffix("/s") else { return nil }
        let amount = String(text.dropLast(2))
        let rate: UInt64?
        if let (number, unit) = Quantity.split(amount),
            let factor = bitUnits.first(where: { $0.name == unit.lowercased() })?.bits
        {
            rate = number.scaled(by: factor).map { $0 / 8 }
        } else {
            rate = ByteCount.parse(amount)
        }
        return rate.flatMap { $0 == 0 || $0 >= least ? $0 : nil }
    }

    /// The rate as the configuration says it.
    package static func exactText(_ rate: UInt64) -> String {
        if rate == 0 { return "0 B/s" }
        for (name, factor) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)]
            as [(String, UInt64)]
        where rate % factor == 0 {
            return "\(rate / factor) \(name)/s"
        }
        return "\(rate) B/s"
    }
}
