import ChuteSystem
import Glibc
import TestSupport
import Testing

/// What the rules of a folder keep out, at the end that drops and at the end that receives.
@Suite(.timeLimit(.minutes(3)))
struct RefusedFileTests {
    @Test func `too large files and other types are refused at both ends, with the reason`()
        async throws
    {
        var random = SeededGenerator(seed: 61)
        let large = SampleFiles.photo(300_000, using: &random)
        let good = SampleFiles.photo(40_000, using: &random)
        let text = Array("a text, and no picture whatever it is called\n".utf8)
        try await AgentPair.with { pair in
            // The laptop's rules are those of its inbox and of its outbox.
            try pair.laptop.configure(#"accept = ["image/*"]"#, #"max_size = "200 kB""#)
            try await withAgents(pair.laptop, pair.pi) { _ in
                for home in [pair.laptop, pair.pi] {
                    try home.drop(text, as: "note.txt")
                    try home.drop(text, as: "lies.jpg")
                    try home.drop(large, as: "large.jpg")
                    try home.drop(good, as: "good.jpg")
                }
                try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/good.jpg": .init(good)]))
                try await pair.laptop.awaitOutbox(FolderTree(files: ["pi/good.jpg": .init(good)]))
                try await pair.laptop.awaitReceipts(1)

                // Dropped there, they are not shared; dropped at the pi, they are, and refused.
                try await eventually("the pi has an answer about each") {
                    "\(try await pair.pi.status().folder as Any)"
                } holds: {
                    let peer = try await pair.pi.status().folder?.peers.first
                    return peer?.delivered == 1 && peer?.refused == 3 && peer?.pending == 0
                }
                #expect(try await pair.pi.status().folder?.shared == 4)
                #expect(try await pair.pi.status().folder?.pending == 0)
                let status = try #require(try await pair.laptop.status().folder)
                #expect(status.skippedTotal == ["type-refused": 4, "too-large": 2])
                for name in ["note.txt", "lies.jpg", "large.jpg"] {
                    let reasons = status.skipped.filter { $0.path == name }.map(\.reason)
                    let reason = name == "large.jpg" ? "too-large" : "type-refused"
                    #expect(reasons == [reason, reason], "\(name)")
                }
            }
        }
    }

    @Test func `limits that are widened count for what was refused before, at both ends`()
        async throws
    {
        var random = SeededGenerator(seed: 63)
        let photos = (0..<2).map { _ in SampleFiles.photo(300_000, using: &random) }
        let text = Array("a text, and no picture whatever it is called\n".utf8)
        let rules = [#"accept = ["image/*"]"#, #"max_size = "200 kB""#]
        try await AgentPair.with { pair in
            try pair.laptop.configure(rules[0], rules[1])
            try await withAgents(pair.laptop, pair.pi) { _ in
                for (home, photo) in zip([pair.laptop, pair.pi], photos) {
                    try home.drop(text, as: "note.txt")
                    try home.drop(photo, as: "large.jpg")
                }
                try await eventually("all are refused") {
                    try await pair.laptop.status().folder?.skippedTotal
                        == ["type-refused": 2, "too-large": 2]
                }
                // Still too little for the photos.
                try pair.laptop.edit(rules[0], "")
                try pair.laptop.edit(rules[1], #"max_size = "250 kB""#)
                try await pair.pi.awaitOutbox(FolderTree(files: ["laptop/note.txt": .init(text)]))
                try await pair.laptop.awaitOutbox(FolderTree(files: ["pi/note.txt": .init(text)]))
                try await eventually("the photos are refused by the new limit") {
                    let skipped = try await pair.laptop.status().folder?.skipped ?? []
                    return skipped.count == 2
                        && skipped.allSatisfy { $0.detail.contains("at most 250000") }
                }
                try pair.laptop.edit(#"max_size = "250 kB""#, "")
                for (home, photo, name) in [
                    (pair.pi, photos[0], "laptop"), (pair.laptop, photos[1], "pi"),
                ] {
                    try await home.awaitOutbox(
                        FolderTree(files: ["note.txt": .init(text), "large.jpg": .init(photo)])
                            .below(BytePath(name)))
                }
                try await pair.pi.awaitReceipts(2)
                #expect(try await pair.laptop.status().folder?.skippedTotal == [:])
            }
        }
    }

    @Test func `a name that the user takes first is the user's, in every moment`() async throws {
        var random = SeededGenerator(seed: 62)
        let photos = (0..<150).map { _ in SampleFiles.photo(3_000, using: &random) }
        let own = SampleFiles.photo(2_000, using: &random)
        try await AgentPair.running { pair in
            let folder = pair.pi.outbox.appending("laptop")
            try pair.laptop.drop(photos[0], as: "photo-0.jpg")
            try await pair.pi.awaitOutbox(
                FolderTree(files: ["laptop/photo-0.jpg": .init(photos[0])]))
            for number in 1..<photos.count {
                try pair.laptop.drop(photos[number], as: BytePath("photo-\(number).jpg"))
            }
            // Races with the agent for every name, from the last one backwards and round again.
            var expected = FolderTree(files: ["laptop/photo-0.jpg": .init(photos[0])])
            var taken = 0
            for number in (1..<photos.count).reversed() {
                let name = "photo-\(number)"
                let path = folder.appending(BytePath(name + ".jpg"))
                do throws(SystemError) {
                    let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL)
                    try file.write(own, at: 0)
                    taken += 1
                    expected.files[BytePath("laptop/\(name).jpg")] = .init(own)
                    expected.files[BytePath("laptop/\(name) (2).jpg")] = .init(photos[number])
                } catch {
                    guard error.exists else { throw error }
                    expected.files[BytePath("laptop/\(name).jpg")] = .init(photos[number])
                }
                if number.isMultiple(of: 8) { try await Task.sleep(for: .milliseconds(1)) }
            }
            try await pair.pi.awaitOutbox(expected)
            try await pair.laptop.awaitReceipts(photos.count)
            #expect(taken > 0)
        }
    }
}
