import CAvahi

/// The Avahi daemon of this host, over D-Bus.
///
/// Owns an `AvahiClient` and all that was made of it. Calls block for as long as the daemon takes
/// to answer.
final class AvahiDaemonStack: AvahiStack {
    private let calls: AvahiClientCalls
    private let client: OpaquePointer
    private let notes: AvahiNotes

    /// Throws where there is no D-Bus; without a daemon it waits for one.
    ///
    /// Calls `avahi_client_new`.
    init(poll: UnsafePointer<AvahiPoll>, notes: AvahiNotes) throws(AvahiError) {
        let calls = try AvahiClientCalls.shared.get()
        var code: Int32 = 0
        let client = calls.clientNew(
            poll, AVAHI_CLIENT_NO_FAIL, { _, _, notes in AvahiNotes.of(notes)?.noteState() },
            notes.pointer, &code)
        guard let client else { throw AvahiError(code: code, call: "avahi_client_new") }
        self.calls = calls
        self.client = client
        self.notes = notes
    }

    deinit { calls.clientFree(client) }

    /// Whether a daemon answers; throws once the connection is good for nothing any more.
    func isConnected() throws(AvahiError) -> Bool {
        switch calls.clientGetState(client) {
        case AVAHI_CLIENT_FAILURE: throw failure("avahi_client_get_state")
        case AVAHI_CLIENT_CONNECTING: return false
        default: return true  // running, or still looking for a name of its own
        }
    }

    private func failure(_ call: String) -> AvahiError {
        AvahiError(code: calls.clientErrno(client), call: call)
    }

    func makeGroup() throws(AvahiError) -> OpaquePointer {
        let group = calls.groupNew(
            client, { _, _, notes in AvahiNotes.of(notes)?.noteState() }, notes.pointer)
        guard let group else { throw failure("avahi_entry_group_new") }
        return group
    }

    func state(of group: OpaquePointer) -> Int32 { calls.groupGetState(group) }

    func commit(_ group: OpaquePointer) throws(AvahiError) {
        try AvahiError.check("avahi_entry_group_commit", calls.groupCommit(group))
    }

    func free(group: OpaquePointer) {
        // It fails only for a daemon that is gone, and its groups with it.
        _ = calls.groupFree(group)
    }

    func add(
        _ announcement: ServiceAnnouncement, type: String, on interface: AvahiIfIndex,
        to group: OpaquePointer
    ) throws(AvahiError) {
        let result = AvahiText.with(announcement.text) {
            calls.groupAddServiceStrlst(
                group, interface, anyFamily, .service, announcement.name, type, nil,
                announcement.host, announcement.port, $0)
        }
        try AvahiError.check("avahi_entry_group_add_service", result)
    }

    func add(
        _ address: AvahiAddress, of host: String, on interface: AvahiIfIndex,
        to group: OpaquePointer
    ) throws(AvahiError) {
        var address = address
        let result = calls.groupAddAddress(
            group, interface, anyFamily, .address, host, &address)
        try AvahiError.check("avahi_entry_group_add_address", result)
    }

    func browse(type: String) throws(AvahiError) {
        let browser = calls.browserNew(
            client, anyInterface, anyFamily, type, nil, AvahiLookupFlags(rawValue: 0),
            { _, interface, family, event, name, _, _, _, notes in
                AvahiNotes.of(notes)?.browsed(event, AvahiNotes.place(interface, family, name))
            }, notes.pointer)
        guard browser != nil else { throw failure("avahi_service_browser_new") }
    }

    func resolve(_ place: AvahiNotes.Place, type: String) throws(AvahiError) -> OpaquePointer {
        let resolver = calls.resolverNew(
            client, place.interface, place.family, place.name, type, nil, place.family,
            AvahiLookupFlags(rawValue: 0),
            { _, interface, family, event, name, _, _, host, address, port, text, _, notes in
                AvahiNotes.of(notes)?.resolved(
                    event, AvahiNotes.place(interface, family, name), host: host, address,
                    port: port, text)
            }, notes.pointer)
        guard let resolver else { throw failure("avahi_service_resolver_new") }
        return resolver
    }

    func free(resolver: OpaquePointer) {
        // It fails only for a daemon that is gone, and its resolvers with it.
        _ = calls.resolverFree(resolver)
    }
}
