import ChuteSystem

/// Notices that the configuration may say something else: the file was written, exchanged by an
/// editor, or a symbolic link on the way to it points elsewhere.
///
/// By inotify; by looking at it every second and a half where that cannot be had.
struct ConfigurationWatch: Sendable {
    let file: BytePath
    let log: Log
    /// Editors write in several steps.
    var gathering = Duration.milliseconds(100)
    var pollPause = Duration.milliseconds(1500)
    /// Makes the watch; tests let it fail.
    var makeInotify: @Sendable () throws(SystemError) -> Inotify = {
        () throws(SystemError) in try Inotify()
    }

    private static let mask: InotifyEvent.Mask = [
        .closedWrite, .movedTo, .created, .movedFrom, .deleted, .attributes, .selfDeleted,
        .selfMoved,
    ]

    /// Calls `look` whenever the file may say something else, and once at the start, until
    /// cancelled.
    func run(_ look: @Sendable () async -> Void) async throws {
        while true {
            let trail = LinkTrail(to: file)
            let inotify: Inotify
            do throws(SystemError) {
                inotify = try watch(trail)
            } catch {
                log.debug("the configuration is looked at now and then: \(error)")
                await look()
                try await Task.pause(for: pollPause, tolerance: pollPause / 4)
                continue
            }
            defer { inotify.stop() }
            await look()  // what was written before the watch
            while let events = await inotify.next() {
                guard events.contains(where: { concerns($0, trail) }) else { continue }
                try await Task.pause(for: gathering)
                await look()
                if LinkTrail(to: file) != trail || events.contains(where: \.endsWatch) { break }
            }
            try Task.checkCancellation()
        }
    }

    private func concerns(_ event: InotifyEvent, _ trail: LinkTrail) -> Bool {
        event.endsWatch || trail.places.contains { $0.name == event.name }
    }

    private func watch(_ trail: LinkTrail) throws(SystemError) -> Inotify {
        let inotify = try makeInotify()
        do throws(SystemError) {
            for folder in Set(trail.places.map(\.folder)) {
                _ = try inotify.watch(path: folder, for: Self.mask)
            }
        } catch {
            inotify.stop()
            throw error
        }
        return inotify
    }
}

extension InotifyEvent {
    /// Nothing more comes of the folder, or something was missed.
    fileprivate var endsWatch: Bool {
        !mask.isDisjoint(with: [.selfDeleted, .selfMoved, .ignored, .unmounted, .overflow])
    }
}
