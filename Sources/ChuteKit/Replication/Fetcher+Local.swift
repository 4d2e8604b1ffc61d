import ChuteSystem
import Glibc

/// Bytes that lie on own disk already.
extension Fetcher {
    /// Copies the bytes from a file on own disk, hashing them on the way; `false` where none
    /// has them any more. Throws `CancellationError` between two pieces.
    func copyFromHere(_ want: Want) async throws -> Bool {
        let attachment = want.attachment
        let (locations, layer) = try await reader.read { snapshot in
            (try snapshot.locations(of: attachment), try snapshot.layer(of: attachment))
        }
        defer { roots.close() }
        var source = BlobServer(roots: allRoots, buffers: buffers)
        let transfer = FetchTransfer(want: want, layer: layer)
        for piece in 0..<PieceTree.pieceCount(length: attachment.byteCount) {
            try Task.checkCancellation()
            let request = PieceRequest(
                number: 0, attachment: attachment, piece: piece, offset: 0)
            let buffer =
                source.piece(request)
                ?? source.open(attachment, at: locations, layer: layer, for: request).piece
            guard let buffer, transfer.isRight(piece, buffer, with: hasher) else { return false }
            do throws(SystemError) {
                try transfer.write(piece, buffer, in: roots)
            } catch {
                pause(want, error)
                return true
            }
            await Task.yield()
        }
        transfer.startWriteback()
        end(FetchOutcome(want: want, result: .completed, layer: layer ?? []))
        return true
    }

    /// Hashes what an earlier run left in the staged file, while the rest is fetched already.
    ///
    /// Throws `CancellationError` between two pieces: then nothing is under way for the first want
    /// of the transfer, and others of it wait as paused ones do.
    func checkStaged(_ pieces: [UInt64], of transfer: FetchTransfer) async throws {
        var wrong: [UInt64] = []
        for piece in pieces {
            do { try Task.checkCancellation() } catch {
                giveUpStaged(transfer)
                throw error
            }
            if transfer.checkStaged(piece, in: roots, with: hasher) {
                transfer.mark(piece)
            } else {
                wrong.append(piece)
            }
            await Task.yield()
        }
        guard transfers[transfer.attachment] === transfer else { return }
        carryOut(planner.reopen(wrong, of: transfer.attachment))
        finishIfComplete(transfer)
    }

    /// What is not hashed yet is neither there nor asked for: the next run looks at it anew.
    private func giveUpStaged(_ transfer: FetchTransfer) {
        guard transfers[transfer.attachment] === transfer else { return }
        drop(transfer.attachment)
        for want in transfer.wants.dropFirst() { retryLater(want) }
    }

    /// Makes the file of a want of no bytes.
    func finishEmpty(_ want: Want) {
        guard want.attachment.digest.bytes == PieceTree.emptyID else {
            // No bytes, of anybody, have this hash.
            return end(
                FetchOutcome(
                    want: want, result: .mismatch(from: nil, isFinal: true), layer: []))
        }
        let transfer = FetchTransfer(want: want, layer: nil)
        do throws(SystemError) {
            try transfer.open(in: roots)
            end(FetchOutcome(want: want, result: .completed, layer: []))
        } catch { pause(want, error) }
    }

    /// Writes the file of another want of bytes that have just come.
    func copy(from source: FetchTransfer, layer: [UInt8]?, to want: Want) {
        let target = FetchTransfer(want: want, layer: layer)
        do throws(SystemError) {
            for piece in 0..<target.pieceCount {
                let buffer = try source.read(piece)
                guard target.isRight(piece, buffer, with: hasher) else {
                    throw SystemError(code: EIO, call: "read", path: source.wants[0].path)
                }
                try target.write(piece, buffer, in: roots)
            }
            target.startWriteback()
            end(FetchOutcome(want: want, result: .completed, layer: layer ?? []))
        } catch { pause(want, error) }
    }
}
