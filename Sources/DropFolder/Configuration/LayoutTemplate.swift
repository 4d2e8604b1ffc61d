/// Where a published file goes in the outbox, such as `{peer}/{path}`.
package struct LayoutTemplate: Hashable, Sendable, CustomStringConvertible {
    package enum Part: Hashable, Sendable {
        /// Text that stands as it is; a `/` in it separates folders.
        case text(String)
        case value(Value)
    }

    /// What a placeholder stands for.
    package enum Value: String, CaseIterable, Sendable {
        /// The name of the device that shared it.
        case peer
        /// The path below that device's inbox; the only value with folders in it.
        case path
        /// The last component of `path`.
        case name
        /// The first half of the media type: `image`.
        case type
        case year, month, day
        case collection
    }

    package let parts: [Part]

    /// `{peer}/{path}`.
    package static let standard = LayoutTemplate(parts: [
        .value(.peer), .text("/"), .value(.path),
    ])

    /// Why a text is no layout; one sentence without a full stop.
    package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    private init(parts: [Part]) { self.parts = parts }

    /// Reads a template. The last component must tell files apart by `{path}` or `{name}`.
    package init(_ text: String) throws(Invalid) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else {
                throw Invalid(description: "a brace without its partner in \"\(text)\"")
            }
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            let name = String(rest[rest.index(after: open)..<close])
            guard let value = Value(rawValue: name) else {
                let known = Value.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
                throw Invalid(description: "{\(name)} is unknown, expected one of \(known)")
            }
            parts.append(.value(value))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
        try check()
    }

    private func check() throws(Invalid) {
        let text = description
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            throw Invalid(description: "a control character in a layout")
        }
        if text.hasPrefix("/") {
            throw Invalid(description: "a layout is relative to the outbox: no \"/\" in front")
        }
        let components = text.split(separator: "/", omittingEmptySubsequences: false)
        if components.contains(where: { $0 == "" || $0 == "." || $0 == ".." }) {
            throw Invalid(description: "an empty component, \".\" or \"..\" in \"\(text)\"")
        }
        guard let last = components.last, last.contains("{path}") || last.contains("{name}") else {
            throw Invalid(description: "the last component needs {path} or {name}")
        }
    }

    package var description: String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .value(let value): "{\(value.rawValue)}"
            }
        }.joined()
    }
}
