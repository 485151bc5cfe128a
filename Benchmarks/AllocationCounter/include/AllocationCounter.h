#pragma once
#include <stdbool.h>
#include <stdint.h>

/// What a thread has asked of the heap since it began.
typedef struct {
    uint64_t count;
    uint64_t bytes;
} allocation_counts;

/// Whether allocations are counted: with glibc, and without a sanitizer, which has an allocator of its own.
bool allocation_counter_is_active(void);

/// The calling thread's counts. Every call of malloc and its kin counts, those of C libraries and of Swift among them.
allocation_counts allocation_counter_read(void);
