/// What a file's own structure says about whether it is whole.
package enum StructureVerdict: Hashable, Sendable {
    /// The format has an end and it is there.
    case complete
    /// The format has an end and it is missing.
    case cut
    /// The first bytes are all zero: allocated, not yet written.
    case zeroHead
    /// No bytes.
    case empty
    /// No format whose end is known.
    case unknown

    /// What is said of a file that is delivered although it may not be whole.
    package var note: IngestNote? {
        switch self {
        case .complete, .unknown: nil
        case .cut, .zeroHead: .possiblyTruncated
        case .empty: .empty
        }
    }
}

extension StructureVerdict {
    init(_ structure: FileStructure) {
        switch structure {
        case .complete: self = .complete
        case .cut: self = .cut
        case .zeroHead: self = .zeroHead
        case .empty: self = .empty
        case .unknown: self = .unknown
        }
    }
}
