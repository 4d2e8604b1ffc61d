import ChuteSystem

/// How far a stream of changes has come: the number of the last one and the tag it had.
struct Cursor: Hashable, Sendable {
    let n: UInt64
    let tag: [UInt8]
}

/// Some changes on their way to a peer, in the order in which they were learned here.
struct ChangePage: Hashable, Sendable {
    /// What was signed together, with those of its changes that are in this page.
    struct Part: Hashable, Sendable {
        let header: [UInt8]
        let signature: [UInt8]
        var changes: [[UInt8]]
    }

    var parts: [Part] = []
    /// The last number looked at, also where nothing of it is in the page.
    var end: Cursor?
}

extension Snapshot {
    /// Where the stream for a peer that holds `cursor` goes on: after it, or at the start where
    /// this store never gave that number that tag in this view.
    func start(after cursor: Cursor?, view: PeerView = .everything) throws -> UInt64 {
        guard let cursor, cursor.n <= UInt64(Int64.max) else { return 0 }
        let tag = try database.prepare("SELECT tag FROM changes WHERE n = ?")
            .first(cursor.n) { $0.bytes(0) }
        return try tag.map(view.digest().tag) == cursor.tag ? cursor.n : 0
    }

    /// The newest number given so far.
    func lastLearned() throws -> UInt64 {
        try database.prepare("SELECT coalesce(max(n), 0) FROM changes").first { $0.uint64(0) } ?? 0
    }

    /// From this size on a page takes no more: with the largest change it fits in a frame.
    private static let pageByteCount = 512 << 10

    /// The next changes after number `n` of what a peer gets to see, at most 256 rows and about
    /// 1 MiB, but those that came from `peer` with a number above `since`: that peer has them.
    /// Mostly one page; only the last one has an end, which it has also where nothing of what was
    /// looked at is for this peer.
    func changes(
        after n: UInt64, for peer: DeviceID, since: UInt64, view: PeerView = .everything
    ) throws -> [ChangePage] {
        var pages = FilledPages()
        let digest = try view.digest()
        let rows = try database.prepare(
            """
            SELECT n, tag, batch, kind, author,
            CASE WHEN via = ?2 AND n > ?3 THEN NULL ELSE body END
            FROM changes WHERE n > ?1 ORDER BY n LIMIT 256
            """
        ).all(n, peer.digest.bytes, since) { row in
            (
                Cursor(n: row.uint64(0), tag: digest.tag(row.bytes(1))), row.optionalInt64(2),
                // What is not for this peer is not even read.
                Self.mayConcern(view.scope, row, kind: 3, author: 4) ? row.optionalBytes(5) : nil
            )
        }
        var end: Cursor?
        for (cursor, batch, body) in rows {
            if pages.byteCount > Self.pageByteCount { break }
            end = cursor
            guard let batch, let body else { continue }
            guard try isSeen(body, in: view.scope) else { continue }
            for number in try changes(for: view.subscription, at: cursor.n, body) {
                if number == Int64(bitPattern: cursor.n) {
                    try add(body, of: batch, to: &pages)
                } else if let (batch, body) = try earlier(number) {
                    try add(body, of: batch, to: &pages)
                }
            }
        }
        pages.all[pages.all.count - 1].end = end
        return pages.all
    }

    /// Pages that are being filled, and where in the last one the changes of a batch are.
    private struct FilledPages {
        var all = [ChangePage()]
        var places: [Int64: Int] = [:]
        /// Of the last page.
        var size = 0
        /// Of all of them.
        var byteCount = 0
    }

    private func earlier(_ number: Int64) throws -> (batch: Int64, body: [UInt8])? {
        try database.prepare("SELECT batch, body FROM changes WHERE n = ? AND body IS NOT NULL")
            .first(number) { ($0.int64(0), $0.bytes(1)) }
    }

    private func add(_ body: [UInt8], of batch: Int64, to pages: inout FilledPages) throws {
        pages.byteCount += body.count
        if pages.size > 0, pages.size + body.count > Change.sizeLimit {
            pages.all.append(ChangePage())
            (pages.places, pages.size) = ([:], 0)
        }
        pages.size += body.count
        let last = pages.all.count - 1
        if let place = pages.places[batch] {
            pages.all[last].parts[place].changes.append(body)
            return
        }
        let found = try database.prepare("SELECT header, signature FROM batches WHERE id = ?")
            .first(batch) { ($0.bytes(0), $0.bytes(1)) }
        guard let (header, signature) = found else {
            throw WireError.malformed("a change without its batch")
        }
        pages.places[batch] = pages.all[last].parts.count
        pages.size += header.count + signature.count
        pages.byteCount += header.count + signature.count
        pages.all[last].parts.append(
            .init(header: header, signature: signature, changes: [body]))
    }

    /// What a peer has to know before all else: who belongs to the space, and what each device
    /// is called, as far as it may know that. It comes again in its place in the stream, and is
    /// known by then.
    func introduction(view: PeerView = .everything) throws -> ChangePage {
        var page = ChangePage()
        try database.prepare(
            """
            SELECT b.header, b.signature, c.body FROM changes c JOIN batches b ON b.id = c.batch
            WHERE c.kind = 3 AND c.hash IS NOT NULL
            UNION ALL SELECT b.header, b.signature, c.body FROM documents d
            JOIN changes c ON c.n = d.change_n JOIN batches b ON b.id = c.batch
            WHERE d.collection = ? LIMIT ?
            """
        ).forEach(DeviceProfile.collection, ChangePage.partLimit) { row in
            let body = row.bytes(2)
            guard try isSeen(body, in: view.scope) else { return }
            page.parts.append(
                .init(header: row.bytes(0), signature: row.bytes(1), changes: [body]))
        }
        return page
    }

    /// How far the stream from `peer` has come here.
    func cursor(from peer: DeviceID) throws -> Cursor? {
        try database.prepare("SELECT n, tag FROM cursors WHERE peer = ?")
            .first(peer.digest.bytes) { Cursor(n: $0.uint64(0), tag: $0.bytes(1)) }
    }

    /// The greatest counter of `author` that is known here.
    func highestCounter(of author: DeviceID) throws -> UInt64 {
        try database.prepare(
            "SELECT coalesce(max(counter), 0) FROM changes WHERE author = ? AND hash IS NOT NULL"
        ).first(author.digest.bytes) { $0.uint64(0) } ?? 0
    }
}

extension Transaction {
    /// Takes in a page from `peer` and moves its cursor; both or neither.
    ///
    /// A change that no honest peer sends is left out and counted: the others stand. The cursor
    /// stays where all streams had to begin anew since the peer was asked for this one, which was
    /// after `restarts` of them: what came before it is still to come.
    func receive(
        _ parts: [ReceivedPart], upTo end: Cursor?, from peer: DeviceID,
        subscription: Subscription = .everything, restarts: UInt64 = 0
    ) throws -> [WireError] {
        // What was asked for before says nothing about what is asked for now.
        guard subscription == state.subscription else {
            throw SessionEnd.said(.subscriptionChanged)
        }
        var refused: [WireError] = []
        for part in parts {
            for change in part.changes {
                do {
                    try receive(change, in: part.batch, from: peer)
                } catch let error as WireError { refused.append(error) }
            }
        }
        if let end, restarts == state.streamRestarts {
            try database.prepare("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)")
                .run(peer.digest.bytes, end.n, end.tag)
        }
        return refused
    }

    /// Has every peer tell everything again.
    func restartStreams() throws {
        try database.execute("DELETE FROM cursors")
        state.streamRestarts += 1
    }
}

/// A part of a page, read and checked as far as that needs no database.
struct ReceivedPart: Sendable {
    let batch: SignedBatch
    let changes: [Change]
}
