/// What `accept` takes: a type, `image/*`, or `*/*`.
package struct MIMEPattern: Hashable, Sendable, CustomStringConvertible {
    private enum Form: Hashable, Sendable {
        case anything
        case family(String)
        case exact(MIMEType)
    }

    private let form: Form
    /// Any file.
    package static let any = MIMEPattern(.anything)

    private init(_ form: Form) { self.form = form }

    /// `nil` where `text` is neither a type nor one of the two wildcards.
    package init?(_ text: String) {
        let lowered = text.lowercased()
        if lowered == "*/*" || lowered == "*" {
            form = .anything
        } else if lowered.hasSuffix("/*"), let type = MIMEType(lowered.dropLast() + "x") {
            form = .family(type.type)
        } else if !lowered.contains(";"), let type = MIMEType(lowered) {
            form = .exact(type.canonical)
        } else {
            return nil
        }
    }

    /// The pattern as a person writes it; a type by its preferred name.
    package var description: String {
        switch form {
        case .anything: "*/*"
        case .family(let family): "\(family)/*"
        case .exact(let type): type.description
        }
    }

    /// Whether `type`, under any of its names, is meant.
    ///
    /// `image/*` also means a type of which only an alias is an image.
    package func matches(_ type: MIMEType) -> Bool {
        switch form {
        case .anything: true
        case .family(let family): MIMEAliases.names(of: type).contains { $0.type == family }
        case .exact(let wanted): wanted == type.canonical
        }
    }
}
