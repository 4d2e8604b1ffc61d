import ChuteSystem
import Synchronization

/// The bounded way from an `InboxWatcher` to whoever takes its sightings.
final class SightingQueue: Sendable {
    private struct State {
        var sightings: [InboxSighting] = []
        var isFinished = false
        var isRoomWanted = false
        var isWoken = false
    }

    private let capacity: Int
    private let whenRoom: @Sendable () -> Void
    private let state = Mutex(State())
    private let ready = WakeSignal()

    init(capacity: Int, whenRoom: @escaping @Sendable () -> Void) {
        self.capacity = max(capacity, 1)
        self.whenRoom = whenRoom
    }

    /// `false` where there is no room: the sighting is lost.
    func append(_ sighting: InboxSighting) -> Bool {
        let isIn = state.withLock { state in
            guard state.sightings.count < capacity else {
                state.isRoomWanted = true
                return false
            }
            state.sightings.append(sighting)
            return true
        }
        ready.raise()
        return isIn
    }

    /// For what must not be lost and is rare.
    func appendAlways(_ sighting: InboxSighting) {
        state.withLock { $0.sightings.append(sighting) }
        ready.raise()
    }

    /// Whether half of the queue is free; otherwise `whenRoom` is called when something was
    /// taken.
    func hasRoom() -> Bool {
        state.withLock { state in
            if state.sightings.count * 2 <= capacity { return true }
            state.isRoomWanted = true
            return false
        }
    }

    var isFull: Bool { state.withLock { $0.sightings.count >= capacity } }

    func next() async -> [InboxSighting]? {
        while true {
            let now = state.withLock { state in
                defer {
                    state.sightings = []
                    state.isRoomWanted = false
                    state.isWoken = false
                }
                return state
            }
            if now.isRoomWanted { whenRoom() }
            if !now.sightings.isEmpty || now.isWoken { return now.sightings }
            if now.isFinished || Task.isCancelled { return nil }
            await ready.wait()
        }
    }

    /// Lets `next` return, with nothing if nothing was seen.
    func wake() {
        state.withLock { $0.isWoken = true }
        ready.raise()
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        ready.raise()
    }
}
