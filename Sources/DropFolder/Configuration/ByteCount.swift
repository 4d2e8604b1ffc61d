/// Sizes as a person writes and reads them.
package enum ByteCount {
    private static let units: [(name: String, bytes: UInt64)] = [
        ("kb", 1000), ("mb", 1_000_000), ("gb", 1_000_000_000), ("tb", 1_000_000_000_000),
        ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30), ("tib", 1 << 40),
        ("k", 1000), ("m", 1_000_000), ("g", 1_000_000_000), ("t", 1_000_000_000_000),
        ("b", 1), ("bytes", 1), ("byte", 1), ("", 1),
    ]

    /// Reads `4 GiB`, `1.5 MB`, `4096`; `nil` where it is no size or does not fit.
    package static func parse(_ text: String) -> UInt64? {
        guard let (number, unit) = Quantity.split(text),
            let factor = units.first(where: { $0.name == unit.lowercased() })?.bytes
        else { return nil }
        return number.scaled(by: factor)
    }

    /// The size in at most four characters and a unit of powers of ten: `1.2 GB`.
    package static func text(_ count: UInt64) -> String {
        if count < 1000 { return count == 1 ? "1 byte" : "\(count) bytes" }
        var scaled = Double(count)
        var unit = ""
        for next in ["KB", "MB", "GB", "TB", "PB", "EB"] {
            scaled /= 1000
            unit = next
            if scaled < 999.5 { break }
        }
        guard scaled < 9.95 else { return "\(Int(scaled.rounded())) \(unit)" }
        let tenths = Int((scaled * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }

    /// The size as the configuration says it: exact, in the largest unit without a fraction.
    package static func exactText(_ count: UInt64) -> String {
        let names =
            ["TiB": 1 << 40, "GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10] as [String: UInt64]
        let best = names.filter { count > 0 && count % $0.value == 0 }.max { $0.value < $1.value }
        return best.map { "\(count / $0.value) \($0.key)" } ?? "\(count)"
    }
}
