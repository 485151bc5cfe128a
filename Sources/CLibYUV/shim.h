#pragma once
#include <libyuv.h>

// The constants must stay where they are, for their alignment. Swift copies a C constant before it takes its address.
static inline const struct YuvConstants *yuv_shim_bt601_limited(void) { return &kYuvI601Constants; }
static inline const struct YuvConstants *yuv_shim_bt601_full(void) { return &kYuvJPEGConstants; }
static inline const struct YuvConstants *yuv_shim_bt709_full(void) { return &kYuvF709Constants; }
static inline const struct YuvConstants *yuv_shim_bt2020_full(void) { return &kYuvV2020Constants; }
