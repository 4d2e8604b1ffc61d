import ChuteSystem

/// What a device that only sends may know: who the owners are and where to find them, its own
/// documents, and what owners did with those. Of the other members it learns nothing.
struct SenderScope: Hashable, Sendable {
    let device: DeviceID
    /// The owners that are members.
    let owners: Set<DeviceID>
    /// As `Membership.pastOwners`: by their facts it works out who the owners are.
    let pastOwners: Set<DeviceID>

    var cbor: CBOR {
        .array([
            .bytes(device.digest.bytes),
            .array(owners.sorted().map { .bytes($0.digest.bytes) }),
            .array(pastOwners.sorted().map { .bytes($0.digest.bytes) }),
        ])
    }

    /// Whether a change by this author can be for it, before anything of the change is read.
    func mayConcern(_ kind: Change.Kind?, by author: DeviceID) -> Bool {
        switch kind {
        case .fact: pastOwners.contains(author)
        case .owned: author == device || owners.contains(author)
        case .fields, .remove, nil: false
        }
    }

    /// Whether it may know a change; `isOwn` is whether a document is its own.
    func concerns(
        _ change: Change, isOwn: (DocumentID, _ collection: String) throws -> Bool
    ) rethrows -> Bool {
        guard mayConcern(change.kind, by: change.author) else { return false }
        guard change.kind == .owned else { return concerns(MemberFact(cbor: change.body)) }
        if change.author == device { return true }
        switch change.collection {
        case DeviceProfile.collection: return true
        case Receipt.replicatedCollection:
            guard let receipt = Receipt(cbor: change.body) else { return false }
            return try isOwn(receipt.document, receipt.collection)
        default: return false
        }
    }

    private func concerns(_ fact: MemberFact?) -> Bool {
        switch fact {
        case .founding: true
        case .admission(let subject, _, _), .removal(let subject, _):
            subject == device || pastOwners.contains(subject)
        case .sharedKey, nil: false
        }
    }
}
