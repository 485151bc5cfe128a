#pragma once
#include <sys/socket.h>

/// `struct mmsghdr`, which glibc declares under `_GNU_SOURCE` alone (recvmmsg(2)).
struct message_vector_entry {
    struct msghdr message;
    /// The received bytes.
    unsigned int size;
};

/// recvmmsg(2) without a timeout.
int receive_messages(int descriptor, struct message_vector_entry *messages, unsigned int count, int flags, void *timeout)
    __asm__("recvmmsg");
