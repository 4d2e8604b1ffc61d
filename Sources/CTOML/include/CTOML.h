#pragma once
#ifdef __cplusplus
extern "C" {
#endif
// Filled in by the configuration reader.
const char *chute_toml_version(void);
#ifdef __cplusplus
}
#endif
