import TestSupport
import Testing

@testable import ChuteKit

struct FetchStateTests {
    private static let error = ChuteError(.noSpace, "full")

    /// Whatever becomes known, in whatever order.
    @Test(arguments: [0, 1, 1000] as [UInt64])
    func `in any order of events there is one terminal event, and progress only grows`(
        _ total: UInt64
    ) async throws {
        try await withEngine { engine, _ in
            let attachment = try await engine.pictures.newAttachment(bytes: [1])
            for seed in 0..<2000 {
                var random = SeededGenerator(seed: UInt64(seed))
                var state = FetchState(total: total)
                var events: [FetchEvent] = []
                var terminals = 0
                for _ in 0..<Int.random(in: 1...40, using: &random) {
                    let input: FetchState.Input
                    switch Int.random(in: 0..<20, using: &random) {
                    case 0: input = .completed(attachment)
                    case 1: input = .deleted
                    case 2: input = .failed(Self.error)
                    case 3: input = .cancelled
                    case 4...7: input = .stalled(holders: [])
                    default: input = .progress(.random(in: 0...2000, using: &random))
                    }
                    switch input {
                    case .progress, .stalled: break
                    default: terminals += 1
                    }
                    let wasOver = state.isOver
                    let new = state.handle(input)
                    #expect(!wasOver || new.isEmpty)
                    events += new
                }
                #expect(events.filter(\.isTerminal).count == min(terminals, 1))
                #expect(state.isOver == (terminals > 0))
                if terminals > 0 { #expect(events.last?.isTerminal == true) }
                check(events, total)
            }
        }
    }

    private func check(_ events: [FetchEvent], _ total: UInt64) {
        var last: UInt64 = 0
        for (index, event) in events.enumerated() {
            if index > 0 { #expect(event != events[index - 1]) }
            if case .progress(let done, let all) = event {
                #expect(all == total && done >= last && done <= total)
                last = done
                #expect((0...1).contains(event.fractionCompleted ?? -1))
            }
            if case .completed = event {
                #expect(
                    events[index - 1]
                        == .progress(downloadedBytes: total, totalBytes: total)
                        || events[..<index].contains(
                            .progress(downloadedBytes: total, totalBytes: total))
                )
            }
        }
    }

    @Test func `after it stalled, going on is said though nothing has come`() {
        var state = FetchState(total: 10)
        #expect(state.handle(.progress(4)) == [.progress(downloadedBytes: 4, totalBytes: 10)])
        #expect(state.handle(.progress(4)).isEmpty)
        #expect(state.handle(.stalled(holders: [])) == [.stalled(holders: [])])
        #expect(state.handle(.stalled(holders: [])).isEmpty)
        #expect(state.handle(.progress(4)) == [.progress(downloadedBytes: 4, totalBytes: 10)])
        #expect(state.handle(.progress(2)).isEmpty)
    }

    @Test func `the parts of the whole add up, and what was given up does not count`() {
        func id(_ byte: UInt8, _ count: UInt64) -> AttachmentID {
            guard let id = AttachmentID(digest: Digest(hashing: [byte]), byteCount: count) else {
                preconditionFailure("a small number")
            }
            return id
        }
        var totals = FetchTotals()
        #expect(totals.progress.fractionCompleted == 1)
        totals.began(id(1, 100))
        totals.began(id(2, 300))
        totals.advanced(id(1, 100), to: 50)
        totals.advanced(id(1, 100), to: 40)
        #expect(totals.progress.downloadedBytes == 50)
        #expect(totals.progress.totalBytes == 400)
        totals.ended(id(1, 100), isCompleted: true)
        #expect(totals.progress.downloadedBytes == 100)
        totals.ended(id(2, 300), isCompleted: false)
        #expect(
            totals.progress == FetchProgress(activeCount: 0, downloadedBytes: 100, totalBytes: 100))
        totals.began(id(3, 7))
        #expect(totals.progress == FetchProgress(activeCount: 1, downloadedBytes: 0, totalBytes: 7))
    }

    @Test func `attachments that are said to be of any length add up to no more than there is`() {
        var totals = FetchTotals()
        for number in 0..<4096 {
            let id = AttachmentID(
                digest: Digest(hashing: Array("\(number)".utf8)), byteCount: 1 << 53)
            guard let id else { preconditionFailure("a count of at most 2^53") }
            totals.began(id)
            totals.advanced(id, to: .max)
        }
        #expect(totals.progress.totalBytes == .max && totals.progress.fractionCompleted == 1)
    }
}
