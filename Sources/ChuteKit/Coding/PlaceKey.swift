/// The key of a place that has a number, or none of its own.
struct PlaceKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

/// What stands for an attachment and is written into a document as its token.
protocol AttachmentNaming {
    var token: AttachmentToken { get }
}
