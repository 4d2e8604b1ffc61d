import CAvahi

/// One announcement and one search over a stack, for as long as that stack lives.
///
/// On the stack's thread. `close` before it goes, so that others hear of it.
final class AvahiSession {
    private struct AddressGroup {
        let host: String
        let group: OpaquePointer
    }

    let stack: any AvahiStack
    let search: AvahiSearch
    private let type: String

    private var announced: ServiceAnnouncement?
    private var service: OpaquePointer?
    private var addresses: [ServiceAnnouncement.Address: AddressGroup] = [:]
    private var failure: AvahiError?

    /// `interfaces` by name, none for all but loopback.
    init(_ stack: any AvahiStack, type: String, interfaces: [String]) {
        self.stack = stack
        self.type = type
        search = AvahiSearch(stack, type: type, interfaces: interfaces)
    }

    /// Announces this from now on; nothing happens where it is so already and did not fail.
    func announce(_ announcement: ServiceAnnouncement?) {
        let hasFailed = failure != nil
        failure = nil
        do throws(AvahiError) {
            try announceAddresses(of: announcement)
            try announceService(of: announcement, anew: hasFailed)
        } catch { failure = error }
        announced = announcement
    }

    /// Each address in a group of its own: one that goes takes no other from the links.
    private func announceAddresses(of announcement: ServiceAnnouncement?) throws(AvahiError) {
        let wanted = announcement?.addresses ?? []
        for (address, group) in addresses
        where !wanted.contains(address) || group.host != announcement?.host {
            stack.free(group: group.group)
            addresses[address] = nil
        }
        guard let host = announcement?.host else { return }
        for address in wanted where addresses[address] == nil {
            guard let number = Self.address(address.host) else { continue }
            let group = try makeGroup { group throws(AvahiError) in
                try stack.add(number, of: host, on: address.interface, to: group)
            }
            addresses[address] = AddressGroup(host: host, group: group)
        }
    }

    private func announceService(
        of announcement: ServiceAnnouncement?, anew: Bool
    ) throws(AvahiError) {
        var (new, old) = (announcement, announced)
        new?.addresses = []
        old?.addresses = []
        guard new != old || anew || (service == nil && new != nil) else { return }
        if let service { stack.free(group: service) }
        service = nil
        guard let announcement else { return }
        let interfaces = announcement.interfaces.map { $0.sorted() } ?? [anyInterface]
        guard !interfaces.isEmpty else { return }
        service = try makeGroup { group throws(AvahiError) in
            for interface in interfaces {
                try stack.add(announcement, type: type, on: interface, to: group)
            }
        }
    }

    private func makeGroup(
        _ fill: (OpaquePointer) throws(AvahiError) -> Void
    ) throws(AvahiError) -> OpaquePointer {
        let group = try stack.makeGroup()
        do throws(AvahiError) {
            try fill(group)
            try stack.commit(group)
            return group
        } catch {
            stack.free(group: group)
            throw error
        }
    }

    private static func address(_ number: String) -> AvahiAddress? {
        var address = AvahiAddress()
        return avahi_address_parse(number, anyFamily, &address) == nil ? nil : address
    }

    /// How the announcement is; asks the stack.
    var announcing: MulticastDNSState.Announcing {
        if let failure { return .failed(failure) }
        guard let service else { return .nothing }
        let states = ([service] + addresses.values.map(\.group)).map { stack.state(of: $0) }
        if let code = states.first(where: { $0 < 0 }) {
            return .failed(AvahiError(code: code, call: "avahi_entry_group_get_state"))
        }
        func has(_ state: AvahiEntryGroupState) -> Bool { states.contains(Int32(state.rawValue)) }
        if has(AVAHI_ENTRY_GROUP_COLLISION) { return .collision }
        if has(AVAHI_ENTRY_GROUP_FAILURE) {
            return .failed(AvahiError(code: Int32(AVAHI_ERR_FAILURE), call: "avahi_entry_group"))
        }
        return has(AVAHI_ENTRY_GROUP_REGISTERING) || has(AVAHI_ENTRY_GROUP_UNCOMMITED)
            ? .probing : .established
    }

    /// Takes everything back, so that others hear that it is gone.
    func close() {
        search.close()
        announce(nil)
    }
}
