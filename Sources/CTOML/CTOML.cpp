#include "CTOML.h"
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>
extern "C" const char *chute_toml_version(void) { return "toml++"; }
