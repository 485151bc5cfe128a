// The program's own malloc stands before the C library's for all shared libraries of the process. It counts and calls
// the C library's, so whatever else there is of the heap (free, malloc_usable_size) goes on as it is.

#include "AllocationCounter.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOCATIONS_ARE_COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ALLOCATIONS_ARE_COUNTED 0
#endif
#endif
#if !defined(ALLOCATIONS_ARE_COUNTED)
#if defined(__GLIBC__)
#define ALLOCATIONS_ARE_COUNTED 1
#else
#define ALLOCATIONS_ARE_COUNTED 0
#endif
#endif

#if ALLOCATIONS_ARE_COUNTED

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread allocation_counts counts;

static void note(size_t size) {
    counts.count += 1;
    counts.bytes += size;
}

void *malloc(size_t size) {
    note(size);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note(count * size);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note(size);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    note(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment == 0 || alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *allocated = memalign(alignment, size);
    if (allocated == NULL) return ENOMEM;
    *memory = allocated;
    return 0;
}

bool allocation_counter_is_active(void) { return true; }

allocation_counts allocation_counter_read(void) { return counts; }

#else

bool allocation_counter_is_active(void) { return false; }

allocation_counts allocation_counter_read(void) {
    allocation_counts none = {0, 0};
    return none;
}

#endif
