#pragma once

/// `struct msghdr` of 64-bit systems (recvmsg(2)). With the system's own header, this module would seem to own all
/// that the header declares.
struct received_message {
    void *name;
    unsigned int name_length;
    void *vectors;
    unsigned long vector_count;
    void *control;
    unsigned long control_length;
    int flags;
};

/// `struct mmsghdr`, which glibc declares under `_GNU_SOURCE` alone (recvmmsg(2)).
struct received_entry {
    struct received_message message;
    /// The received bytes.
    unsigned int size;
};

/// recvmmsg(2) without a timeout.
int receive_messages(int descriptor, struct received_entry *entries, unsigned int count, int flags, void *timeout)
    __asm__("recvmmsg");
