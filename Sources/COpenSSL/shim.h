#pragma once
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

// Function-like macros, which Swift does not import.
static inline int chute_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int chute_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}
static inline int chute_SSL_CTX_set1_sigalgs_list(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_sigalgs_list(context, list);
}
static inline int chute_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}
static inline long chute_SSL_CTX_set_max_cert_list(SSL_CTX *context, long byte_count) {
    return SSL_CTX_set_max_cert_list(context, byte_count);
}
// A macro.
static inline long chute_SSL_CTX_set_read_ahead(SSL_CTX *context, int on) {
    return SSL_CTX_set_read_ahead(context, on);
}
static inline long chute_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_mode(context, mode);
}
static inline long chute_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_session_cache_mode(context, mode);
}

// Flags written as casts or shifts of unsigned types, which Swift does not import.
static inline uint64_t chute_SSL_OP_NO_TICKET(void) { return SSL_OP_NO_TICKET; }
static inline uint64_t chute_SSL_OP_NO_RENEGOTIATION(void) { return SSL_OP_NO_RENEGOTIATION; }
static inline uint64_t chute_SSL_OP_NO_COMPRESSION(void) { return SSL_OP_NO_COMPRESSION; }
static inline uint64_t chute_SSL_OP_CIPHER_SERVER_PREFERENCE(void) {
    return SSL_OP_CIPHER_SERVER_PREFERENCE;
}
static inline uint64_t chute_SSL_OP_IGNORE_UNEXPECTED_EOF(void) {
    return SSL_OP_IGNORE_UNEXPECTED_EOF;
}

// Parameters keep the pointers to their names: Swift's strings would be gone by then.
static inline int chute_hkdf_sha256(
    EVP_KDF_CTX *context, const uint8_t *secret, size_t secret_count, const uint8_t *salt,
    size_t salt_count, const uint8_t *info, size_t info_count, uint8_t *key, size_t key_count) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count),
        OSSL_PARAM_construct_end(),
    };
    return EVP_KDF_derive(context, key, key_count, parameters);
}

// Whether the processor encrypts AES blocks itself: OpenSSL has no call that says so.
static inline int chute_processor_has_aes(void) {
#if defined(__x86_64__)
    unsigned int a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 25)) != 0;
#elif defined(__aarch64__)
    return (getauxval(AT_HWCAP) & (1ul << 3)) != 0;
#else
    return 0;
#endif
}
