#pragma once
#include <libyuv.h>

// The constants must stay where they are, for their alignment. Swift copies a C constant before it takes its address.
static inline const struct YuvConstants *yuv_shim_bt601_limited(void) { return &kYuvI601Constants; }
static inline const struct YuvConstants *yuv_shim_bt601_full(void) { return &kYuvJPEGConstants; }
static inline const struct YuvConstants *yuv_shim_bt709_full(void) { return &kYuvF709Constants; }
static inline const struct YuvConstants *yuv_shim_bt2020_full(void) { return &kYuvV2020Constants; }

// Eight neighbouring samples of a scaled row: the two samples of the source that each is blended of, counted from
// `start`, and their weights of 128.
struct yuv_shim_blends {
    uint8_t places[16];
    uint8_t weights[16];
    int32_t start;
};

// Determines `count` eights of a row, whose samples are `step` / 65536 apart in the source, at most 2, from `first` on.
static inline void yuv_shim_set_blends(struct yuv_shim_blends *blends, int32_t count, int32_t first, int32_t step) {
    uint32_t position = (uint32_t)first;
    for (int32_t index = 0; index < count; index++) {
        blends[index].start = (int32_t)(position >> 16);
        for (int32_t sample = 0; sample < 8; sample++, position += (uint32_t)step) {
            uint8_t place = (uint8_t)((position >> 16) - (uint32_t)blends[index].start), weight = position >> 9 & 127;
            blends[index].places[2 * sample] = place;
            blends[index].places[2 * sample + 1] = place + 1;
            blends[index].weights[2 * sample] = 128 - weight;
            blends[index].weights[2 * sample + 1] = weight;
        }
    }
}

// The bytes of memory that a row has beyond its samples.
static const int32_t yuv_shim_blends_margin = 16;

#if defined(__x86_64__)
#include <tmmintrin.h>

// Blends the samples of a row.
__attribute__((target("ssse3"))) static inline void yuv_shim_blend(
    const uint8_t *row, const struct yuv_shim_blends *blends, uint8_t *samples, int32_t width) {
    // The instruction multiplies signed by unsigned bytes; the sum is made unsigned again, and rounded.
    const __m128i sign = _mm_set1_epi8((char)0x80), restored = _mm_set1_epi16(128 * 128 + 64);
    for (; width > 0; width -= 8, samples += 8, blends++) {
        __m128i pairs = _mm_loadu_si128((const __m128i *)(row + blends->start));
        pairs = _mm_shuffle_epi8(pairs, _mm_loadu_si128((const __m128i *)blends->places));
        __m128i sums = _mm_maddubs_epi16(
            _mm_loadu_si128((const __m128i *)blends->weights), _mm_xor_si128(pairs, sign));
        sums = _mm_srli_epi16(_mm_add_epi16(sums, restored), 7);
        const __m128i eight = _mm_packus_epi16(sums, sums);
        if (width >= 8) _mm_storel_epi64((__m128i *)samples, eight);
        else __builtin_memcpy(samples, &eight, width);
    }
}
#else
// Not called: no other processor has the instructions.
static inline void yuv_shim_blend(
    const uint8_t *row, const struct yuv_shim_blends *blends, uint8_t *samples, int32_t width) {}
#endif
