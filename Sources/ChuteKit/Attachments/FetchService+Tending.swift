import ChuteSystem

/// The way of a fetch.
extension FetchService {
    /// Looks at own disk, then asks for the bytes.
    func begin(_ attachment: AttachmentID) async {
        guard let entry = entries[attachment], !entry.hasBegun else { return }
        entry.hasBegun = true
        do {
            if try await blobReader.isHere(attachment) {
                try await blobs.keepRelay(attachment)
                return await complete(entry)
            }
            guard isActive(entry) else { return }
            let (isNamed, holders) = try await reader.read { snapshot in
                (try snapshot.isNamed(attachment), try snapshot.knownHolders(of: attachment))
            }
            guard isNamed else { return await end(entry, isCompleted: false) { _ in .deleted } }
            guard attachment.byteCount > 0 else { throw Self.noSuchBytes(attachment) }
            try await blobs.checkRoom(for: attachment.byteCount)
            await fetcher.prioritize(attachment, entry.priority)
            guard isActive(entry) else { return await fetcher.prioritize(attachment, nil) }
            entry.isWanted = true
            let root = blobs.root
            let isStillNamed = try await store.write { transaction in
                try transaction.unwant(attachment, inRoot: root)
                try transaction.remove(RelayRecord.self, RelayRecord.key(attachment))
                // From here on `lookForDeleted` sees that no document names it any more.
                guard try transaction.isNamed(attachment) else { return false }
                try transaction.want(
                    attachment, root: root, path: BlobFolder.stagedPath(of: attachment),
                    from: holders.min(), part: .rest)
                return true
            }
            blobs.relays.with { $0.remove(attachment) }
            guard isStillNamed else {
                return await end(entry, isCompleted: false) { _ in .deleted }
            }
            guard isActive(entry) else { return await takeBack(attachment) }
            await look()
        } catch { await fail(entry, error) }
    }

    private static func noSuchBytes(_ attachment: AttachmentID) -> ChuteError {
        ChuteError(.hashMismatch, "no bytes, of anybody, have the name \(attachment)")
    }

    private func complete(_ entry: Entry) async {
        await end(entry, isCompleted: true) { [blobs, blobReader] subscription in
            .completed(
                Attachment(token: subscription.token, blobs: blobs, reader: blobReader))
        }
    }

    private func fail(_ entry: Entry, _ error: any Error) async {
        let error =
            error as? ChuteError
            ?? ChuteError(
                .file, "\(entry.attachment) cannot be fetched now", isTransient: true,
                cause: error)
        await end(entry, isCompleted: false) { _ in .failed(error) }
    }

    /// Follows what the fetcher and the store say, until cancelled.
    func tend() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.followFetcher() }
            group.addTask {
                for await _ in self.store.updates(of: .documents) { await self.lookForDeleted() }
            }
            await group.waitForAll()
        }
    }

    private func followFetcher() async {
        while true {
            let notes = await fetcher.notes.next()
            if notes.isEmpty { return }
            for note in notes {
                switch note {
                case .look:
                    fetcher.isLookPending.store(false, ordering: .releasing)
                    await look()
                case .ended(let outcome): await take(outcome)
                }
            }
        }
    }

    /// Tells all who wait where their fetch stands.
    private func look() async {
        let wanted = entries.values.filter(\.isWanted)
        guard !wanted.isEmpty else { return }
        let stalled = await fetcher.stalled(among: wanted.map(\.attachment))
        for entry in wanted where isActive(entry) {
            let attachment = entry.attachment
            guard stalled.contains(attachment) else {
                advance(entry, to: fetcher.progress.received(of: attachment) ?? 0)
                continue
            }
            do {
                let holders = try await reader.read { try $0.knownHolders(of: attachment) }
                guard isActive(entry) else { continue }
                for each in entry.subscriptions { each.handle(.stalled(holders: holders)) }
            } catch { await fail(entry, error) }
        }
        publishTotals()
    }

    /// Ends the fetches of what no document names any more.
    private func lookForDeleted() async {
        let waiting = Array(entries.values)
        guard !waiting.isEmpty else { return }
        let attachments = waiting.map(\.attachment)
        do {
            let named = try await reader.read { snapshot in
                Set(try attachments.filter { try snapshot.isNamed($0) })
            }
            for entry in waiting where entry.isWanted && !named.contains(entry.attachment) {
                await end(entry, isCompleted: false) { _ in .deleted }
            }
        } catch { for entry in waiting { await fail(entry, error) } }
    }

    /// Takes in what was fetched, or says why it cannot be.
    private func take(_ outcome: FetchOutcome) async {
        let attachment = outcome.want.attachment
        if entries[attachment] == nil, blobs.relays.contains(attachment) {
            return await takeForOthers(outcome)
        }
        switch outcome.result {
        case .completed:
            do {
                try await blobs.adopt(attachment, layer: outcome.layer)
                if let entry = entries[attachment] { await complete(entry) }
            } catch {
                if let entry = entries[attachment] { await fail(entry, error) }
            }
        case .waiting(let obstacle, let reason):
            let code: ChuteError.Code =
                switch obstacle {
                case .noSpace: .noSpace
                case .unwritable: .permission
                case .unavailable: .file
                }
            let error = ChuteError(
                code, "\(attachment) cannot be written: \(reason)", isTransient: true)
            guard let entry = entries[attachment] else { return await takeBack(attachment) }
            await fail(entry, error)
        case .mismatch(from: nil, isFinal: true):
            if let entry = entries[attachment] {
                await fail(entry, Self.noSuchBytes(attachment))
            }
        case .mismatch, .sampled: break  // it goes on with whoever has the right bytes
        }
    }

    /// Takes in what was fetched for other devices, or gives it up.
    private func takeForOthers(_ outcome: FetchOutcome) async {
        let attachment = outcome.want.attachment
        do {
            switch outcome.result {
            case .completed:
                await fetcher.prioritize(attachment, nil)
                try await blobs.adopt(attachment, layer: outcome.layer, isRelay: true)
                guard let entry = entries[attachment] else { return }
                // Asked for here meanwhile.
                try await blobs.keepRelay(attachment)
                await complete(entry)
            case .waiting, .mismatch(from: nil, isFinal: true):
                await fetcher.prioritize(attachment, nil)
                try await blobs.removeRelay(attachment)
            case .mismatch, .sampled: break
            }
        } catch {
            diagnostics.warning("\(attachment) was fetched for others and is not kept: \(error)")
            if let entry = entries[attachment] { await fail(entry, error) }
        }
    }
}
