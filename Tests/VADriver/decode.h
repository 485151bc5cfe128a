// The parts of VLD.
#pragma once
#include "driver.h"
#if defined(HAS_LIBVA) && __has_include(<libavcodec/avcodec.h>)
#define HAS_DECODER 1

#pragma GCC visibility push(hidden)

// decode.c
VAStatus decode_picture(Driver *driver, Context *context);
void destroy_decoder(struct H264Decoder *decoder);

#pragma GCC visibility pop
#endif
