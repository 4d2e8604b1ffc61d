import ChuteSystem

/// Taking the documents that are there into new indexes.
extension StoreWriter {
    /// Begins, or goes on; nothing happens where that is under way.
    func startIndexing() {
        guard !isIndexing else { return }
        isIndexing = true
        // Unstructured: whoever declares an index does not wait for it. It ends with the writer,
        // which it holds for one step at a time.
        Task(executorPreference: WorkerPool.shared) { [weak self] in
            // Each step is a job of its own: whoever wants to write comes in between.
            while await self?.continueIndexing() ?? false {}
        }
    }

    private func continueIndexing() -> Bool {
        do {
            if try write(durable: .withNext, { try $0.continueIndexing() }) { return true }
        } catch {
            diagnostics.warning("an index cannot be made; it goes on at the next start: \(error)")
        }
        isIndexing = false
        return false
    }
}
