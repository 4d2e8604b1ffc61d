#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast macro and sqlite3_db_config is variadic: neither is imported.
// A null pointer would bind NULL, so that nothing at all is bound as the empty string's address.
static inline int chute_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes && count ? bytes : "", count, SQLITE_TRANSIENT);
}
static inline int chute_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes && count ? bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int chute_sqlite3_db_config(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}
