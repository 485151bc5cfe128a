#pragma once
#include <malloc.h>

/* To Swift, mallinfo2() is an empty structure of that name rather than the function. */
static inline size_t free_heap_bytes(void) { return mallinfo2().fordblks; }
