#pragma once
#include <stdint.h>
#include <stdarg.h>
#include <x264.h>

// The header renames x264_encoder_open to a name that ends in the library's build number; this one stays.
static inline x264_t *x264_shim_encoder_open(x264_param_t *parameters) { return x264_encoder_open(parameters); }
