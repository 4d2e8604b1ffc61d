import CAvahi

/// The functions of libavahi-core that are used here.
struct AvahiCoreCalls: Sendable {
    let setLogFunction: chute_avahi_set_log_function
    let configInit: chute_avahi_server_config_init
    let configFree: chute_avahi_server_config_free
    let serverNew: chute_avahi_server_new
    let serverFree: chute_avahi_server_free
    let serverGetState: chute_avahi_server_get_state
    let serverErrno: chute_avahi_server_errno
    let groupNew: chute_avahi_s_entry_group_new
    let groupFree: chute_avahi_s_entry_group_free
    let groupCommit: chute_avahi_s_entry_group_commit
    let groupGetState: chute_avahi_s_entry_group_get_state
    let serverAddServiceStrlst: chute_avahi_server_add_service_strlst
    let serverAddAddress: chute_avahi_server_add_address
    let browserNew: chute_avahi_s_service_browser_new
    let resolverNew: chute_avahi_s_service_resolver_new
    let resolverFree: chute_avahi_s_service_resolver_free

    /// Opened once, for as long as the process lives.
    static let shared = Result { () throws(AvahiError) in try Self() }

    private init() throws(AvahiError) {
        let library = try AvahiLibrary("libavahi-core.so.7")
        setLogFunction = try library.function("avahi_set_log_function")
        configInit = try library.function("avahi_server_config_init")
        configFree = try library.function("avahi_server_config_free")
        serverNew = try library.function("avahi_server_new")
        serverFree = try library.function("avahi_server_free")
        serverGetState = try library.function("avahi_server_get_state")
        serverErrno = try library.function("avahi_server_errno")
        groupNew = try library.function("avahi_s_entry_group_new")
        groupFree = try library.function("avahi_s_entry_group_free")
        groupCommit = try library.function("avahi_s_entry_group_commit")
        groupGetState = try library.function("avahi_s_entry_group_get_state")
        serverAddServiceStrlst = try library.function("avahi_server_add_service_strlst")
        serverAddAddress = try library.function("avahi_server_add_address")
        browserNew = try library.function("avahi_s_service_browser_new")
        resolverNew = try library.function("avahi_s_service_resolver_new")
        resolverFree = try library.function("avahi_s_service_resolver_free")
    }
}
