import ChuteSystem
import Synchronization

/// How fast the connections of an engine may send and receive. May be changed at any time.
final class TrafficLimits: Sendable {
    enum Direction: Hashable, Sendable { case upload, download }

    private struct Buckets {
        var whole: [Direction: RateBucket] = [:]
        var peers: [DeviceID: [Direction: RateBucket]] = [:]
        var limitsLAN = false
    }

    private let buckets = Mutex(Buckets())
    private let start = ContinuousClock.now
    /// A limited connection moves at most so much of a second's bytes at once.
    private static let portions: UInt64 = 4

    /// Goes by these limits from now on. What passed before counts on.
    func set(_ limits: Chute.Network.Limits) {
        buckets.withLock { buckets in
            buckets.limitsLAN = limits.limitsLAN
            buckets.whole = Self.changed(buckets.whole, to: limits.whole)
            var peers: [DeviceID: [Direction: RateBucket]] = [:]
            for (device, rates) in limits.peers {
                peers[device] = Self.changed(buckets.peers[device] ?? [:], to: rates)
            }
            buckets.peers = peers
        }
    }

    private static func changed(
        _ buckets: [Direction: RateBucket], to rates: Chute.Network.Rates
    ) -> [Direction: RateBucket] {
        var upload = buckets[.upload] ?? RateBucket()
        var download = buckets[.download] ?? RateBucket()
        (upload.rate, download.rate) = (rates.upload, rates.download)
        return [.upload: upload, .download: download]
    }

    /// Waits until `count` bytes may pass to or from a peer. `isLocal`: it is on the local network.
    func pass(
        _ count: Int, _ direction: Direction, _ peer: DeviceID, isLocal: Bool
    ) async throws {
        let now = ContinuousClock.now - start
        let pause = buckets.withLock { buckets in
            var pause = buckets.peers[peer]?[direction]?.take(count, now: now) ?? .zero
            if !isLocal || buckets.limitsLAN {
                pause = max(pause, buckets.whole[direction]?.take(count, now: now) ?? .zero)
            }
            return pause
        }
        if pause > .zero { try await Task.pause(for: pause) }
    }

    /// How many bytes may be moved at once, so that nobody waits long for others; `nil` where there
    /// is no limit.
    func portion(_ direction: Direction, _ peer: DeviceID, isLocal: Bool) -> Int? {
        buckets.withLock { buckets in
            let rates = [
                buckets.peers[peer]?[direction]?.rate,
                isLocal && !buckets.limitsLAN ? nil : buckets.whole[direction]?.rate,
            ]
            return rates.compactMap(\.self).min().map {
                max(1024, Int(clamping: $0 / Self.portions))
            }
        }
    }
}
