import Testing

@testable import ChuteKit
@testable import DropFolder

/// What to do about a version of somebody else's file.
struct DeliveryDecisionTests {
    private let rules = DeliveryDecision.Rules(
        accept: [MIMEPattern("*/*")].compactMap(\.self), maxSize: nil)

    private func document(_ name: String, version: UInt64, bytes: UInt8 = 1) throws -> OwnedDocument
    {
        let id = try #require(AttachmentID(digest: Digest(hashing: [bytes]), byteCount: 9))
        let file = FileDocument(
            token: AttachmentToken(id: id), path: [Array(name.utf8)], modified: 0, mode: 0,
            type: "image/jpeg")
        return OwnedDocument(
            collection: "c", id: DocumentID(Digest(hashing: [0])),
            origin: DeviceID(publicKey: [1]), version: version,
            versionID: Digest(hashing: [2, UInt8(version)]), learned: Int64(version),
            seed: Digest(hashing: [3]), fields: file.fields)
    }

    private func record(
        of document: OwnedDocument, _ state: DeliveryRecord.State
    ) throws -> DeliveryRecord {
        let file = try #require(document.fields.flatMap(FileDocument.init))
        return DeliveryRecord(root: 1, document: document, file: file, state: state)
    }

    @Test(arguments: [DeliveryRecord.State.delivered, .removed])
    func `a new name for the same bytes fetches nothing`(state: DeliveryRecord.State) throws {
        let record = try record(of: document("a", version: 1), state)
        #expect(DeliveryDecision.of(try document("b", version: 2), record, rules) == .move)
    }

    @Test(arguments: [DeliveryRecord.State.fetching, .waiting, .delivered, .refused])
    func `other bytes are fetched`(state: DeliveryRecord.State) throws {
        let record = try record(of: document("a", version: 1), state)
        let changed = try document("a", version: 2, bytes: 2)
        #expect(DeliveryDecision.of(changed, record, rules) == .fetch)
    }

    @Test func `narrower rules for a peer hold for what it shares, and for nobody else`() throws {
        let mine = try document("a", version: 1)
        let images = [MIMEPattern("image/*")].compactMap(\.self)
        func decision(_ peer: DeliveryDecision.Rules.PeerRules, _ origin: DeviceID)
            -> DeliveryDecision
        {
            var rules = DeliveryDecision.Rules(accept: images, maxSize: 100)
            rules.peers = [origin: peer]
            return .of(mine, nil, rules)
        }
        #expect(decision(.init(), mine.origin) == .fetch)
        #expect(decision(.init(maxSize: 1000), mine.origin) == .fetch)
        let small = decision(.init(maxSize: 8), mine.origin)
        guard case .refuse(.tooLarge, _) = small else {
            Issue.record("\(small)")
            return
        }
        let text = [MIMEPattern("text/*")].compactMap(\.self)
        let typed = decision(.init(accept: text), mine.origin)
        guard case .refuse(.typeRefused, _) = typed else {
            Issue.record("\(typed)")
            return
        }
        #expect(decision(.init(accept: text, maxSize: 8), DeviceID(publicKey: [2])) == .fetch)
        // The folder's own rules hold all the same.
        var all = DeliveryDecision.Rules(accept: text)
        all.peers = [mine.origin: .init(accept: images)]
        #expect(!all.forFiles(of: mine.origin).takesEverything)
        guard case .refuse(.typeRefused, _) = DeliveryDecision.of(mine, nil, all) else {
            Issue.record("the folder takes text alone")
            return
        }
    }

    @Test func `a budget gives no more than it has`() {
        var budget = SpaceBudget(available: 10, reason: .overQuota)
        let answers = [7, 4, 3, .max].map { budget.take($0) }
        #expect(answers == [true, false, true, false])
    }

    @Test func `a vague claim is judged by the beginning where not everything is taken`() throws {
        let pictures = DeliveryDecision.Rules(
            accept: [MIMEPattern("image/*")].compactMap(\.self), maxSize: nil)
        for claim in ["application/octet-stream", "text/plain", "application/zip", "nonsense"] {
            #expect(pictures.part(type: claim) == .sample, "\(claim)")
            #expect(pictures.refusal(type: claim, byteCount: 1) == nil, "\(claim)")
            #expect(rules.part(type: claim) == .whole, "\(claim)")
        }
        #expect(pictures.part(type: "image/png") == .whole)
    }
}
