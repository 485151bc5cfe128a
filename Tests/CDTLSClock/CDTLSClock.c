// libssl times the retransmissions of a DTLS handshake with gettimeofday(2) and takes the time from nowhere else. This
// definition stands before the C library's for all shared libraries of the process (the linker exports it, because they
// refer to it): a thread that holds a time sees that one, every other sees the machine's, as ever.

#include "CDTLSClock.h"

#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static __thread bool is_held;
static __thread int64_t held;

void dtls_clock_hold(int64_t microseconds) {
    held = microseconds;
    is_held = true;
}

void dtls_clock_release(void) { is_held = false; }

__attribute__((visibility("default"), used)) int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    if (zone) memset(zone, 0, sizeof(struct timezone));
    if (is_held) {
        time->tv_sec = held / 1000000;
        time->tv_usec = held % 1000000;
        return 0;
    }
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}
