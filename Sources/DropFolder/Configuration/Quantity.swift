/// A decimal number of up to nine fractional digits, kept exactly.
struct Quantity {
    /// The number times 10^9 would overflow soon: whole and fraction are kept apart.
    let whole: UInt64
    let billionths: UInt64

    /// Cuts `1.5 GiB` into number and unit; `nil` where it does not begin with a number.
    static func split(_ text: String) -> (Quantity, unit: String)? {
        let trimmed = text.drop { $0 == " " }
        let number = trimmed.prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "_") }
        var unit = trimmed[number.endIndex...].drop { $0 == " " }
        while unit.last == " " { unit.removeLast() }
        let digits = number.filter { $0 != "_" }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let whole = UInt64(first), parts.count <= 2 else {
            return nil
        }
        var billionths: UInt64 = 0
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].count <= 9 else { return nil }
            let padded = parts[1] + String(repeating: "0", count: 9 - parts[1].count)
            guard let value = UInt64(padded) else { return nil }
            billionths = value
        }
        return (Quantity(whole: whole, billionths: billionths), String(unit))
    }

    /// The number times `factor`, rounded down; `nil` where that does not fit.
    func scaled(by factor: UInt64) -> UInt64? {
        let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
        let fraction = (1_000_000_000 as UInt64).dividingFullWidth(
            billionths.multipliedFullWidth(by: factor))
        let (sum, carry) = product.addingReportingOverflow(fraction.quotient)
        return overflow || carry || sum > UInt64(Int64.max) ? nil : sum
    }
}
