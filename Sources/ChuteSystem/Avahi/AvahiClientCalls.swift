import CAvahi

/// The functions of libavahi-client that are used here.
struct AvahiClientCalls: Sendable {
    let clientNew: chute_avahi_client_new
    let clientFree: chute_avahi_client_free
    let clientGetState: chute_avahi_client_get_state
    let clientErrno: chute_avahi_client_errno
    let groupNew: chute_avahi_entry_group_new
    let groupFree: chute_avahi_entry_group_free
    let groupCommit: chute_avahi_entry_group_commit
    let groupGetState: chute_avahi_entry_group_get_state
    let groupAddServiceStrlst: chute_avahi_entry_group_add_service_strlst
    let groupAddAddress: chute_avahi_entry_group_add_address
    let browserNew: chute_avahi_service_browser_new
    let resolverNew: chute_avahi_service_resolver_new
    let resolverFree: chute_avahi_service_resolver_free

    /// Opened once, for as long as the process lives.
    static let shared = Result { () throws(AvahiError) in try Self() }

    private init() throws(AvahiError) {
        let library = try AvahiLibrary("libavahi-client.so.3")
        clientNew = try library.function("avahi_client_new")
        clientFree = try library.function("avahi_client_free")
        clientGetState = try library.function("avahi_client_get_state")
        clientErrno = try library.function("avahi_client_errno")
        groupNew = try library.function("avahi_entry_group_new")
        groupFree = try library.function("avahi_entry_group_free")
        groupCommit = try library.function("avahi_entry_group_commit")
        groupGetState = try library.function("avahi_entry_group_get_state")
        groupAddServiceStrlst = try library.function("avahi_entry_group_add_service_strlst")
        groupAddAddress = try library.function("avahi_entry_group_add_address")
        browserNew = try library.function("avahi_service_browser_new")
        resolverNew = try library.function("avahi_service_resolver_new")
        resolverFree = try library.function("avahi_service_resolver_free")
    }
}
