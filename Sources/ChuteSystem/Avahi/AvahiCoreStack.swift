import CAvahi

/// Avahi's core within this process, for a host without the daemon.
///
/// Owns an `AvahiServer` and all that was made of it. It tells nothing of the host: neither its
/// name nor what its addresses are called, so that several of them, and a daemon, go together on
/// one host.
final class AvahiCoreStack: AvahiStack {
    private let calls: AvahiCoreCalls
    private let server: OpaquePointer
    private let notes: AvahiNotes

    /// Opens the sockets. Throws an error that `isWithoutSocket` where UDP port 5353 cannot be had.
    ///
    /// `interfaces` by name, none for all but loopback. Calls `avahi_server_new`.
    init(
        poll: UnsafePointer<AvahiPoll>, notes: AvahiNotes, host: String, interfaces: [String]
    ) throws(AvahiError) {
        let calls = try AvahiCoreCalls.shared.get()
        // Its words go to standard error otherwise. What matters is in its codes.
        calls.setLogFunction { _, _ in }
        var configuration = AvahiServerConfig()
        _ = calls.configInit(&configuration)
        defer { calls.configFree(&configuration) }
        configuration.host_name = avahi_strdup(host)
        configuration.publish_addresses = 0
        configuration.publish_hinfo = 0
        configuration.publish_workstation = 0
        configuration.publish_domain = 0
        configuration.enable_wide_area = 0
        if interfaces.isEmpty {
            configuration.deny_interfaces = avahi_string_list_add(nil, "lo")
        }
        for name in interfaces {
            configuration.allow_interfaces = avahi_string_list_add(
                configuration.allow_interfaces, name)
        }
        var code: Int32 = 0
        let server = calls.serverNew(
            poll, &configuration, { _, _, notes in AvahiNotes.of(notes)?.noteState() },
            notes.pointer, &code)
        guard let server else { throw AvahiError(code: code, call: "avahi_server_new") }
        self.calls = calls
        self.server = server
        self.notes = notes
    }

    deinit { calls.serverFree(server) }

    /// Throws once it is good for nothing any more.
    func check() throws(AvahiError) {
        if calls.serverGetState(server) == AVAHI_SERVER_FAILURE {
            throw failure("avahi_server_get_state")
        }
    }

    private func failure(_ call: String) -> AvahiError {
        AvahiError(code: calls.serverErrno(server), call: call)
    }

    func makeGroup() throws(AvahiError) -> OpaquePointer {
        let group = calls.groupNew(
            server, { _, _, _, notes in AvahiNotes.of(notes)?.noteState() }, notes.pointer)
        guard let group else { throw failure("avahi_s_entry_group_new") }
        return group
    }

    func state(of group: OpaquePointer) -> Int32 {
        Int32(calls.groupGetState(group).rawValue)
    }

    func commit(_ group: OpaquePointer) throws(AvahiError) {
        try AvahiError.check("avahi_s_entry_group_commit", calls.groupCommit(group))
    }

    func free(group: OpaquePointer) { calls.groupFree(group) }

    func add(
        _ announcement: ServiceAnnouncement, type: String, on interface: AvahiIfIndex,
        to group: OpaquePointer
    ) throws(AvahiError) {
        let result = AvahiText.with(announcement.text) {
            calls.serverAddServiceStrlst(
                server, group, interface, anyFamily, .service, announcement.name, type, nil,
                announcement.host, announcement.port, $0)
        }
        try AvahiError.check("avahi_server_add_service", result)
    }

    func add(
        _ address: AvahiAddress, of host: String, on interface: AvahiIfIndex,
        to group: OpaquePointer
    ) throws(AvahiError) {
        var address = address
        let result = calls.serverAddAddress(
            server, group, interface, anyFamily, .address, host, &address)
        try AvahiError.check("avahi_server_add_address", result)
    }

    func browse(type: String) throws(AvahiError) {
        let browser = calls.browserNew(
            server, anyInterface, anyFamily, type, nil, AvahiLookupFlags(rawValue: 0),
            { _, interface, family, event, name, _, _, _, notes in
                AvahiNotes.of(notes)?.browsed(event, AvahiNotes.place(interface, family, name))
            }, notes.pointer)
        guard browser != nil else { throw failure("avahi_s_service_browser_new") }
    }

    func resolve(_ place: AvahiNotes.Place, type: String) throws(AvahiError) -> OpaquePointer {
        let resolver = calls.resolverNew(
            server, place.interface, place.family, place.name, type, nil, place.family,
            AvahiLookupFlags(rawValue: 0),
            { _, interface, family, event, name, _, _, host, address, port, text, _, notes in
                AvahiNotes.of(notes)?.resolved(
                    event, AvahiNotes.place(interface, family, name), host: host, address,
                    port: port, text)
            }, notes.pointer)
        guard let resolver else { throw failure("avahi_s_service_resolver_new") }
        return resolver
    }

    func free(resolver: OpaquePointer) { calls.resolverFree(resolver) }
}
