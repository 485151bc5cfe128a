#ifndef CONFRELAY_CLIBCURL_H
#define CONFRELAY_CLIBCURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// What libcurl has as variadic functions alone, which Swift does not call.

static inline CURLcode shim_curl_easy_setopt_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_curl_easy_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_curl_easy_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode shim_curl_easy_setopt_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl keeps a copy of the bytes.
static inline CURLcode shim_curl_easy_setopt_blob(CURL *easy, CURLoption option, const void *bytes, size_t size) {
    struct curl_blob blob = {(void *)bytes, size, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

/// `CURLOPT_WRITEFUNCTION` or `CURLOPT_HEADERFUNCTION`.
static inline CURLcode shim_curl_easy_setopt_receiver(
    CURL *easy, CURLoption option, size_t (*receive)(char *bytes, size_t size, size_t count, void *context)) {
    return curl_easy_setopt(easy, option, receive);
}

static inline CURLcode shim_curl_easy_setopt_prerequest(CURL *easy, curl_prereq_callback ask) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, ask);
}

/// A number that libcurl has of a transfer; zero if it does not know it.
static inline long shim_curl_easy_getinfo_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

/// What was set as `CURLOPT_PRIVATE`.
static inline void *shim_curl_easy_private(CURL *easy) {
    char *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

static inline CURLMcode shim_curl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// Macros that Swift does not see as numbers of their parameters' types.

static inline size_t shim_CURL_WRITEFUNC_PAUSE(void) { return CURL_WRITEFUNC_PAUSE; }

static inline CURLcode shim_curl_easy_continue(CURL *easy) { return curl_easy_pause(easy, CURLPAUSE_CONT); }

static inline CURLcode shim_curl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

#endif
