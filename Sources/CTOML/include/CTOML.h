// toml++ behind a flat C interface: one list of nodes in depth-first order, each with its place in
// the text, so that whatever is found wrong later can be said with line and column.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CHUTE_TOML_TABLE,
    CHUTE_TOML_ARRAY,
    CHUTE_TOML_STRING,
    CHUTE_TOML_INTEGER,
    CHUTE_TOML_REAL,
    CHUTE_TOML_BOOLEAN,
    CHUTE_TOML_TIME,
};

struct chute_toml_node {
    int kind;
    uint32_t line, column;          // of the value; 1 is the first
    uint32_t key_line, key_column;  // of the key in the table around it; 0 in an array
    const char *key;                // UTF-8, not terminated
    size_t key_length;
    size_t children;                // how many values a table or array holds directly
    const char *text;               // of a string or a time; UTF-8, not terminated
    size_t text_length;
    int64_t integer;                // of an integer or a boolean
    double real;
};

struct chute_toml_document;

// Parses UTF-8 text. NULL only where there is no memory. Free it with chute_toml_free.
struct chute_toml_document *chute_toml_parse(const char *text, size_t length);
void chute_toml_free(struct chute_toml_document *document);

// The message (terminated) and place of the error, or NULL where the text is good.
const char *chute_toml_error(const struct chute_toml_document *document, uint32_t *line, uint32_t *column);
// The nodes, the root table first; each is followed by its children. Live until the document is freed.
const struct chute_toml_node *chute_toml_nodes(const struct chute_toml_document *document, size_t *count);

#ifdef __cplusplus
}
#endif
