#ifndef CONFRELAY_COPENSSL_H
#define CONFRELAY_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// What OpenSSL has as macros alone, which Swift does not see.

static inline void shim_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }

static inline void shim_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

static inline EVP_PKEY *shim_EVP_EC_gen_P256(void) { return EVP_EC_gen("P-256"); }

/// This version or newer, up to what the library has; no session to be resumed, no renegotiation, no compression, the
/// server's choice of cipher suite, datagrams as large as SSL_set_mtu says.
static inline int shim_SSL_CTX_set_defaults(SSL_CTX *context, int minimum_version) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    return SSL_CTX_set_min_proto_version(context, minimum_version) && SSL_CTX_set_max_proto_version(context, 0);
}

static inline int shim_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}

static inline void shim_SSL_CTX_set_max_cert_list(SSL_CTX *context, long size) {
    SSL_CTX_set_max_cert_list(context, size);
}

/// An idle connection keeps no room for records.
static inline void shim_SSL_CTX_release_buffers(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

static inline int shim_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline void shim_SSL_set_msg_callback_arg(SSL *ssl, void *argument) {
    SSL_set_msg_callback_arg(ssl, argument);
}

static inline _Bool shim_SSL_set_mtu(SSL *ssl, long size) { return SSL_set_mtu(ssl, size) == size; }

static inline int shim_SSL_get_extms_support(SSL *ssl) { return (int)SSL_get_extms_support(ssl); }

/// Microseconds until the retransmission timer fires; negative when it does not run.
static inline int64_t shim_DTLSv1_get_timeout(SSL *ssl) {
    struct timeval left;
    if (!DTLSv1_get_timeout(ssl, &left)) return -1;
    return (int64_t)left.tv_sec * 1000000 + left.tv_usec;
}

static inline int shim_DTLSv1_handle_timeout(SSL *ssl) { return (int)DTLSv1_handle_timeout(ssl); }

// libssl reads gettimeofday(2) for its retransmission timers. A program leaves that clock alone; tests link definitions
// of these two functions, so that libssl sees the time that a connection is handed.

extern void dtls_clock_hold(int64_t microseconds) __attribute__((weak));
extern void dtls_clock_release(void) __attribute__((weak));

/// Makes libssl see this time on the calling thread, where the program has such a clock.
static inline void shim_dtls_clock_hold(int64_t microseconds) {
    if (dtls_clock_hold) dtls_clock_hold(microseconds);
}

/// Gives libssl the machine's time back.
static inline void shim_dtls_clock_release(void) {
    if (dtls_clock_release) dtls_clock_release();
}

static inline int shim_ERR_GET_REASON(unsigned long error) { return ERR_GET_REASON(error); }

#endif
