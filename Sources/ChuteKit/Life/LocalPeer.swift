import ChuteSystem
import Synchronization

/// What this device shows to those it connects to, and whom it lets in.
final class LocalPeer: Sendable {
    private struct State {
        var metadata: Fields = [:]
        var encoded: [UInt8] = []
    }

    private let state = Mutex(State())
    let gate: ConnectionGate
    /// In bytes, as they are on the wire.
    static let metadataLimit = 4 << 10

    init(gate: ConnectionGate = ConnectionGate()) { self.gate = gate }

    var metadata: Fields { state.withLock { $0.metadata } }
    /// As on the wire; empty for none.
    var encodedMetadata: [UInt8] { state.withLock { $0.encoded } }

    /// Throws `tooLarge`, and `invalid` for fields that no device would take.
    func setMetadata(_ metadata: Fields) throws {
        let encoded = metadata.all.isEmpty ? [] : metadata.cbor.encoded()
        guard encoded.count <= Self.metadataLimit else {
            throw ChuteError(
                .tooLarge,
                "the metadata of this device has \(encoded.count) bytes and may have "
                    + "\(Self.metadataLimit): put the rest into a document")
        }
        do { _ = try Self.read(encoded) } catch {
            throw ChuteError(.invalid, "these fields are no metadata: \(error)", cause: error)
        }
        state.withLock { $0 = State(metadata: metadata, encoded: encoded) }
    }

    /// The fields of what came over the wire.
    static func read(_ encoded: [UInt8]) throws -> Fields {
        encoded.isEmpty ? [:] : try Fields(cbor: CBOR.decode(encoded))
    }
}
