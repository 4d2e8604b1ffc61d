#pragma once
#include <cbor.h>

// The callback table is here because its types changed: lengths are size_t before 0.9 and uint64_t
// since. The decoder is driven one item at a time; each call fills one of these.
enum {
    chute_cbor_kind_none = 0,  // the library called nothing
    chute_cbor_kind_unsigned,
    chute_cbor_kind_negative,
    chute_cbor_kind_bytes,
    chute_cbor_kind_text,
    chute_cbor_kind_array,
    chute_cbor_kind_map,
    chute_cbor_kind_bool,
    chute_cbor_kind_null,
    chute_cbor_kind_double,
    chute_cbor_kind_forbidden,  // tags, short floats, undefined, indefinite lengths
};

struct chute_cbor_item {
    int kind;
    uint64_t value;  // the number, the length or the count
    double number;
    const unsigned char *bytes;
};

#if CBOR_MAJOR_VERSION == 0 && CBOR_MINOR_VERSION < 9
typedef size_t chute_cbor_length;
#else
typedef uint64_t chute_cbor_length;
#endif

static inline void chute_cbor_set(void *context, int kind, uint64_t value) {
    struct chute_cbor_item *item = (struct chute_cbor_item *)context;
    item->kind = kind;
    item->value = value;
}
static inline void chute_cbor_uint8(void *item, uint8_t value) { chute_cbor_set(item, chute_cbor_kind_unsigned, value); }
static inline void chute_cbor_uint16(void *item, uint16_t value) { chute_cbor_set(item, chute_cbor_kind_unsigned, value); }
static inline void chute_cbor_uint32(void *item, uint32_t value) { chute_cbor_set(item, chute_cbor_kind_unsigned, value); }
static inline void chute_cbor_uint64(void *item, uint64_t value) { chute_cbor_set(item, chute_cbor_kind_unsigned, value); }
static inline void chute_cbor_negint8(void *item, uint8_t value) { chute_cbor_set(item, chute_cbor_kind_negative, value); }
static inline void chute_cbor_negint16(void *item, uint16_t value) { chute_cbor_set(item, chute_cbor_kind_negative, value); }
static inline void chute_cbor_negint32(void *item, uint32_t value) { chute_cbor_set(item, chute_cbor_kind_negative, value); }
static inline void chute_cbor_negint64(void *item, uint64_t value) { chute_cbor_set(item, chute_cbor_kind_negative, value); }
static inline void chute_cbor_bytes(void *item, cbor_data bytes, chute_cbor_length count) {
    chute_cbor_set(item, chute_cbor_kind_bytes, count);
    ((struct chute_cbor_item *)item)->bytes = bytes;
}
static inline void chute_cbor_text(void *item, cbor_data bytes, chute_cbor_length count) {
    chute_cbor_set(item, chute_cbor_kind_text, count);
    ((struct chute_cbor_item *)item)->bytes = bytes;
}
static inline void chute_cbor_array(void *item, chute_cbor_length count) { chute_cbor_set(item, chute_cbor_kind_array, count); }
static inline void chute_cbor_map(void *item, chute_cbor_length count) { chute_cbor_set(item, chute_cbor_kind_map, count); }
static inline void chute_cbor_bool(void *item, bool value) { chute_cbor_set(item, chute_cbor_kind_bool, value); }
static inline void chute_cbor_null(void *item) { chute_cbor_set(item, chute_cbor_kind_null, 0); }
static inline void chute_cbor_double(void *item, double number) {
    chute_cbor_set(item, chute_cbor_kind_double, 0);
    ((struct chute_cbor_item *)item)->number = number;
}
static inline void chute_cbor_forbidden(void *item) { chute_cbor_set(item, chute_cbor_kind_forbidden, 0); }
static inline void chute_cbor_tag(void *item, uint64_t tag) { (void)tag; chute_cbor_forbidden(item); }
static inline void chute_cbor_float(void *item, float number) { (void)number; chute_cbor_forbidden(item); }

// Every callback is set: the library skips an item silently where one is not.
static inline struct cbor_decoder_result chute_cbor_next(
    const unsigned char *bytes, size_t count, struct chute_cbor_item *item) {
    static const struct cbor_callbacks callbacks = {
        .uint8 = chute_cbor_uint8, .uint16 = chute_cbor_uint16,
        .uint32 = chute_cbor_uint32, .uint64 = chute_cbor_uint64,
        .negint8 = chute_cbor_negint8, .negint16 = chute_cbor_negint16,
        .negint32 = chute_cbor_negint32, .negint64 = chute_cbor_negint64,
        .byte_string_start = chute_cbor_forbidden, .byte_string = chute_cbor_bytes,
        .string = chute_cbor_text, .string_start = chute_cbor_forbidden,
        .indef_array_start = chute_cbor_forbidden, .array_start = chute_cbor_array,
        .indef_map_start = chute_cbor_forbidden, .map_start = chute_cbor_map,
        .tag = chute_cbor_tag, .float2 = chute_cbor_float, .float4 = chute_cbor_float,
        .float8 = chute_cbor_double, .undefined = chute_cbor_forbidden,
        .null = chute_cbor_null, .boolean = chute_cbor_bool, .indef_break = chute_cbor_forbidden,
    };
    item->kind = chute_cbor_kind_none;
    return cbor_stream_decode(bytes, count, &callbacks, item);
}
