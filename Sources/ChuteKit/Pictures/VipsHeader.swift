/// How large a picture says that it is.
struct VipsHeader: Hashable {
    let width: Int
    let height: Int
    let pageCount: Int

    /// Reads what `vipsheader -a` wrote: `name: value` lines; `nil` where no size is among them.
    ///
    /// The size comes first. After it come texts from the file, whose lines may look like any
    /// other: of the counts of pages the greatest is taken, so that none can hide the true one.
    init?(_ text: [UInt8]) {
        var values: [String: Int] = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let number = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
            guard let value = Int(String(decoding: number, as: UTF8.self)) else { continue }
            switch name {
            case "width", "height": if values[name] == nil { values[name] = value }
            case "n-pages": values[name] = max(value, values[name] ?? 1)
            default: break
            }
        }
        guard let width = values["width"], let height = values["height"], width > 0, height > 0
        else { return nil }
        self.width = width
        self.height = height
        pageCount = values["n-pages"] ?? 1
    }

    /// All pixels of all pages; `Int.max` where that is more than a number holds.
    var pixelCount: Int {
        let area = width.multipliedReportingOverflow(by: height)
        let all = area.partialValue.multipliedReportingOverflow(by: max(1, pageCount))
        return area.overflow || all.overflow ? .max : all.partialValue
    }
}
