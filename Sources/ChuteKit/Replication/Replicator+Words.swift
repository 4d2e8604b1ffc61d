import ChuteSystem

/// What people are told of connections: by the names of devices, and in plain words.
extension Replicator {
    /// The name that a device gave itself; the beginning of its id before that came.
    func name(of device: DeviceID) async -> String {
        await context.reader.name(of: device, context.diagnostics)
    }

    /// Says that a connection ended and why, at the level that it is worth.
    func noteEnd(of device: DeviceID, _ failure: (any Error)?) async {
        let end = failure as? SessionEnd
        if case .refused(.removed)? = end, await noteRemoval(by: device) { return }
        let name = await name(of: device)
        let refused = if case .refused(.connectionRefused)? = end { true } else { false }
        let isOld = refused && !refusing.insert(device).inserted
        if !refused { refusing.remove(device) }
        switch (failure, end) {
        case _ where isOld: context.diagnostics.debug("\(name) refuses the connection still")
        case (is CancellationError, _), (_, .said(.stopping)?):
            context.diagnostics.debug("disconnected from \(name): this device stops")
        case (_, let end?)
        where [.duplicateConnection, .spaceChanged, .subscriptionChanged].contains(end.reason):
            // Another connection takes its place.
            context.diagnostics.debug("disconnected from \(name): \(end)")
        default:
            let why = end?.words ?? failure.map { "\($0)" } ?? "the connection was cut"
            context.diagnostics.notice("disconnected from \(name): \(why)")
        }
    }

    /// Remembers that `device` said that this one was removed, and says so once; `false` where
    /// that is not to be believed.
    ///
    /// `device` must be proved or pinned, not only named by an address. Nobody is removed from a
    /// space with a shared key, and no stranger can know.
    @discardableResult
    func noteRemoval(by device: DeviceID) async -> Bool {
        guard await context.store.sharedKey == nil,
            await context.store.membership.isMember(device)
        else { return false }
        guard removers.insert(device).inserted else { return true }
        let who = await name(of: device)
        context.diagnostics.warning(
            "\(who) says that this device was removed from the space: run `chute leave`, which "
                + "keeps all files; to come back, join with a new ticket")
        return true
    }

    /// What is said to a device that does not belong here, or not any more.
    func farewell(to device: DeviceID) async -> GoodbyeReason {
        // Whoever left the space knows of nobody: that is no removal of the other.
        let membership = await context.store.membership
        if membership.isMember(device) { return .ownersOnly }
        return membership.standings[device] != nil ? .removed : .notMember
    }

    /// Who said that this device was removed.
    var removedBy: [DeviceID] { Array(removers) }
}

extension SessionEnd {
    /// Why a connection ended, to follow the other device's name.
    fileprivate var words: String {
        switch self {
        case .refused(.stopping): "it stops"
        case .refused(.notMember):
            "it left the space, or does not know this device as a member any more"
        case .refused(.duplicateDevice), .said(.duplicateDevice):
            "two devices have one key, one of them is a copy of the other"
        case .refused(.connectionRefused):
            "it refuses the connection, and is asked again now and then"
        case .refused(.malformed): "it did not understand what this device said"
        case .said(.malformed): "what it said was not understood"
        case .refused(.ownersOnly), .said(.ownersOnly):
            "who only sends talks to owners alone"
        case .said(.removed): "it was removed from the space"
        case .said(.notMember): "it is no member of this device's space"
        case .refused(.transportChanged): "it does not use this way any more"
        case .said(.transportChanged): "this way is not used any more"
        case .refused(.silent): "it heard nothing of this device"
        case .said(.silent): "nothing of it came any more"
        case .refused(let reason): "it says \(reason)"
        case .said(let reason): "\(reason)"
        }
    }
}
