#pragma once
#include <stdint.h>

/// Makes gettimeofday(2) tell `microseconds` since its origin on the calling thread, until dtls_clock_release.
void dtls_clock_hold(int64_t microseconds);

/// Gives the calling thread the machine's time back.
void dtls_clock_release(void);
