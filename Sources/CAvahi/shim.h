#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/domain.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
#include <avahi-common/thread-watch.h>
#include <avahi-core/core.h>
#include <avahi-core/log.h>
#include <avahi-core/lookup.h>
#include <avahi-core/publish.h>

// libavahi-client and libavahi-core both define `avahi_entry_group_free`: linked together, one
// calls that of the other. So both are opened at run time, each in a scope of its own, and their
// functions are found by name. These are the types of those functions.
#define CHUTE_TYPE_OF(function) typedef __typeof__(&function) chute_##function;
CHUTE_TYPE_OF(avahi_client_new)
CHUTE_TYPE_OF(avahi_client_free)
CHUTE_TYPE_OF(avahi_client_get_state)
CHUTE_TYPE_OF(avahi_client_errno)
CHUTE_TYPE_OF(avahi_entry_group_new)
CHUTE_TYPE_OF(avahi_entry_group_free)
CHUTE_TYPE_OF(avahi_entry_group_commit)
CHUTE_TYPE_OF(avahi_entry_group_get_state)
CHUTE_TYPE_OF(avahi_entry_group_add_service_strlst)
CHUTE_TYPE_OF(avahi_entry_group_add_address)
CHUTE_TYPE_OF(avahi_service_browser_new)
CHUTE_TYPE_OF(avahi_service_resolver_new)
CHUTE_TYPE_OF(avahi_service_resolver_free)
CHUTE_TYPE_OF(avahi_set_log_function)
CHUTE_TYPE_OF(avahi_server_config_init)
CHUTE_TYPE_OF(avahi_server_config_free)
CHUTE_TYPE_OF(avahi_server_new)
CHUTE_TYPE_OF(avahi_server_free)
CHUTE_TYPE_OF(avahi_server_get_state)
CHUTE_TYPE_OF(avahi_server_errno)
CHUTE_TYPE_OF(avahi_s_entry_group_new)
CHUTE_TYPE_OF(avahi_s_entry_group_free)
CHUTE_TYPE_OF(avahi_s_entry_group_commit)
CHUTE_TYPE_OF(avahi_s_entry_group_get_state)
CHUTE_TYPE_OF(avahi_server_add_service_strlst)
CHUTE_TYPE_OF(avahi_server_add_address)
CHUTE_TYPE_OF(avahi_s_service_browser_new)
CHUTE_TYPE_OF(avahi_s_service_resolver_new)
CHUTE_TYPE_OF(avahi_s_service_resolver_free)
