/// What the planner knows of transfers and peers.
extension FetchPlanner {
    /// What a peer has of one attachment.
    enum Standing: Equatable {
        /// Not known: it is asked and may say that it has nothing.
        case unknown
        case absent
        case has(Holding)

        func has(_ piece: UInt64?) -> Bool {
            switch self {
            case .unknown: true
            case .absent: false
            case .has(let holding): piece.map(holding.has) ?? true
            }
        }
    }

    struct Transfer {
        let attachment: AttachmentID
        /// The peer that likely has it; asked before any other.
        let source: DeviceID?
        var priority: FetchPriority
        var needsLayer: Bool
        /// Pieces that nobody is asked for, from the last to the first.
        var open: [UInt64]
        var inFlight: [UInt64: DeviceID] = [:]
        var layerFrom: DeviceID?
        var standings: [DeviceID: Standing] = [:]
        /// The restricted peers that may hear of it.
        var hearers: Set<DeviceID> = []
        /// Peers that sent a wrong piece: once is an edited file, twice is a liar.
        var wrong: [DeviceID: Int] = [:]

        /// What a peer has of it; one that may not hear of it has nothing.
        func standing(of peer: DeviceID, _ isRestricted: Bool) -> Standing {
            isRestricted && !hearers.contains(peer) ? .absent : standings[peer] ?? .unknown
        }

        /// It is asked for as a whole, at once.
        var isSmall: Bool { PieceTree.pieceCount(length: attachment.byteCount) <= 1 }
        var isIdle: Bool { inFlight.isEmpty && layerFrom == nil }
        /// Whether a peer of this standing may have everything that is still open.
        func isAll(at standing: Standing) -> Bool {
            standing.has(nil) && open.allSatisfy { standing.has($0) }
        }

        var hasOpen: Bool { !open.isEmpty || (needsLayer && layerFrom == nil) }
    }

    struct Peer {
        var requestCount = 0
        var byteCount = 0
        var queue = FetchQueue()
        /// How many bytes it may be asked for at once; less than the limit for one that is slow.
        var window: Int
        /// It was asked for something, and brought nothing: others are asked before it.
        var isMute = false
        /// It was asked for something at the last look, too.
        var wasAsked = false
    }
}
