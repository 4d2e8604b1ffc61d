import TestSupport
import Testing

@testable import ChuteKit

struct MergedDocumentTests {
    private static let devices = (0..<3).map { DeviceID(Digest(hashing: [UInt8($0)])) }

    private func entry(
        _ number: Int64, at time: UInt64, by device: Int = 0, isInsert: Bool = false,
        _ writes: [(FieldPath, Value?)]?
    ) -> MergedDocument.Entry {
        MergedDocument.Entry(
            number: number,
            order: .init(
                stamp: Stamp(milliseconds: time), author: Self.devices[device],
                hash: Digest(hashing: [UInt8(truncatingIfNeeded: number)])),
            writes: writes.map {
                FieldWrites(
                    isInsert: isInsert, writes: $0.map { .init(path: $0.0, value: $0.1) })
            })
    }

    @Test func `of two writes of one field the later counts, of equal ones the greater device`() {
        let first = entry(1, at: 1, isInsert: true, [("a", "one"), ("b", "kept")])
        let second = entry(2, at: 2, [("a", "two")])
        #expect(
            MergedDocument(merging: [second, first]).fields == ["a": "two", "b": "kept"])
        let tie = entry(3, at: 2, by: 1, [("a", "three")])
        let greater = Self.devices[1] > Self.devices[0] ? "three" : "two"
        #expect(MergedDocument(merging: [tie, second, first]).fields?["a"]?.string == greater)
    }

    @Test func `a change of which nothing shows any more counts no longer`() {
        let entries = [
            entry(1, at: 1, isInsert: true, [("a", 1)]), entry(2, at: 2, [("b", 1)]),
            entry(3, at: 3, [("b", 2)]),
        ]
        #expect(MergedDocument(merging: entries).live == [1, 3])
    }

    @Test func `an insert counts for as long as it alone makes the document`() {
        let made = entry(1, at: 1, isInsert: true, [("a", 1)])
        let overwritten = entry(2, at: 2, [("a", 2)])
        #expect(MergedDocument(merging: [made, overwritten]).live == [1, 2])
        #expect(MergedDocument(merging: [overwritten]).fields == nil)
    }

    @Test func `a removal ends what was written before it, and only an insert brings it back`() {
        let made = entry(1, at: 1, isInsert: true, [("a", 1)])
        let removed = entry(2, at: 2, nil)
        let late = entry(3, at: 3, [("b", 2)])
        #expect(MergedDocument(merging: [made, removed]).fields == nil)
        #expect(MergedDocument(merging: [made, removed, late]).fields == nil)
        #expect(MergedDocument(merging: [made, removed, late]).live == [2, 3])
        let back = entry(4, at: 4, isInsert: true, [("c", 3)])
        let document = MergedDocument(merging: [made, removed, late, back])
        #expect(document.fields == ["b": 2, "c": 3])
        #expect(document.live == [2, 3, 4])
    }

    @Test func `fields further down merge on their own`() {
        let made = entry(1, at: 1, isInsert: true, [("name", ["first": "A", "last": "B"])])
        let first = entry(2, at: 2, [(["name", "first"], "C")])
        let last = entry(3, at: 3, by: 1, [(["name", "last"], nil)])
        #expect(
            MergedDocument(merging: [last, first, made]).fields == ["name": ["first": "C"]])
    }

    @Test func `a value in the way of a path becomes a map`() {
        let made = entry(1, at: 1, isInsert: true, [("a", 5)])
        let below = entry(2, at: 2, [(["a", "b"], 1)])
        let gone = entry(3, at: 3, [(["a", "b"], nil)])
        #expect(MergedDocument(merging: [made, below]).fields == ["a": ["b": 1]])
        #expect(MergedDocument(merging: [made, below, gone]).fields == ["a": [:]])
        #expect(MergedDocument(merging: [made, gone]).fields == ["a": [:]])
    }

    @Test func `names are told apart by their bytes`() {
        let made = entry(1, at: 1, isInsert: true, [("caf\u{e9}", 1)])
        let other = entry(2, at: 2, [("cafe\u{301}", 2)])
        #expect(MergedDocument(merging: [made, other]).fields?.all.count == 2)
    }

    /// Random changes, taken in one by one in random orders, letting go of those that count no
    /// longer at each step, as stores do.
    @Test(arguments: 0..<200)
    func `the same changes give the same document in whatever order they come`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let paths: [FieldPath] = [
            "a", "b", ["a", "x"], ["a", "y"], ["a", "x", "p"], ["b", "z"], ["b", "z", "q"],
        ]
        let values: [Value?] = [nil, 1, "t", ["x": 2], ["x": ["p": 3], "y": 4], [1, 2], .null]
        let entries = (1...Int64.random(in: 2...12, using: &random)).map { number in
            let writes = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                (
                    paths.randomElement(using: &random) ?? "a",
                    values.randomElement(using: &random) ?? nil
                )
            }
            let isRemoval = Int.random(in: 0..<6, using: &random) == 0
            return entry(
                number, at: .random(in: 1...5, using: &random),
                by: .random(in: 0..<3, using: &random), isInsert: .random(using: &random),
                isRemoval ? nil : writes)
        }
        let whole = MergedDocument(merging: entries)
        for _ in 0..<8 {
            var kept: [MergedDocument.Entry] = []
            for entry in entries.shuffled(using: &random) {
                let document = MergedDocument(merging: kept + [entry])
                kept = (kept + [entry]).filter { document.live.contains($0.number) }
            }
            let merged = MergedDocument(merging: kept)
            #expect(merged.fields == whole.fields)
            #expect(merged.live == whole.live)
        }
    }

    /// One after the other, as they are said to count.
    private func plain(_ entries: [MergedDocument.Entry]) -> Fields {
        var fields = Fields()
        for entry in entries.sorted(by: { $0.order < $1.order }) {
            for write in entry.writes?.writes ?? [] {
                fields.write(write.value, at: write.path.names[...])
            }
        }
        return fields
    }

    @Test(arguments: 0..<200)
    func `all writes together make what they make one after the other`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let names = ["a", "b", "c\u{301}", "\u{107}", "ab"]
        let values: [Value?] = [nil, 1, "t", ["a": 2], ["b": ["a": 3], "ab": 4], [1, 2], .null]
        let entries = (1...Int64.random(in: 1...12, using: &random)).map { number in
            let writes = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                (
                    FieldPath(
                        (0..<Int.random(in: 1...4, using: &random)).map { _ in
                            names.randomElement(using: &random) ?? "a"
                        }), values.randomElement(using: &random) ?? nil
                )
            }
            return entry(number, at: UInt64(number), isInsert: number == 1, writes)
        }
        #expect(MergedDocument(merging: entries).fields == plain(entries))
    }

    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `a document of very many fields is put together in no time to speak of`(
        _ isRising: Bool
    ) {
        let count = 40_000
        let writes = (0..<count).map { number -> (FieldPath, Value?) in
            (FieldPath(["\(1_000_000 + (isRising ? number : count - 1 - number))"]), .null)
        }
        let started = ContinuousClock.now
        let document = MergedDocument(merging: [entry(1, at: 1, isInsert: true, writes)])
        #expect(document.fields?.all.count == count)
        #expect(document.fields?["1000007"] == .null)
        // One after the other into their places they take minutes.
        #expect(ContinuousClock.now - started < .seconds(30))
    }

    @Test(arguments: 0..<50)
    func `what was written reads as it was`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = ["a", "b", "c\u{301}"]
        let writes = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            FieldWrites.Write(
                path: FieldPath(
                    (0..<Int.random(in: 1...3, using: &random)).map { _ in
                        names.randomElement(using: &random) ?? "a"
                    }),
                value: Bool.random(using: &random) ? nil : .integer(.random(in: 0...9)))
        }
        let written = FieldWrites(isInsert: .random(using: &random), writes: writes)
        let read = try FieldWrites(cbor: written.cbor)
        #expect(read.isInsert == written.isInsert)
        var (before, after) = (Fields(), Fields())
        for write in written.writes { before.write(write.value, at: write.path.names[...]) }
        for write in read.writes { after.write(write.value, at: write.path.names[...]) }
        #expect(before == after)
    }
}
