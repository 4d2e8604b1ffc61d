#pragma once
#include <libwebsockets.h>

// A function-like macro inside, which Swift does not import.
static inline size_t chute_lws_pre(void) { return LWS_PRE; }
