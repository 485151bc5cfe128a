// The parts of EncSlice: a picture's submission, its checks, OpenH264, and the stream.
#pragma once
#include "headers.h"
#ifdef HAS_LIBVA
#include <wels/codec_api.h>

#pragma GCC visibility push(hidden)

typedef struct H264Encoder {
    ISVCEncoder *library;
    SEncParamExt settings;
    HeaderSyntax syntax;
    VAEncSequenceParameterBufferH264 sequence;
    bool has_sequence;
    uint8_t *planes;
    uint8_t *payload;
    size_t payload_capacity;
    // Whether the library has made a picture: its first is an IDR picture unasked.
    bool started;
    // Since the last IDR picture.
    uint32_t pictures;
    uint32_t previous_frame_num;
    bool previous_was_reference;
    Reference references[16];
    int reference_count;
    // As told with the last picture.
    int bit_rate;
    int frames_at_old_rate;
    float frame_rate;
    bool has_rate;
    int layers;
    int qp;
} H264Encoder;

// The buffers of one picture.
typedef struct {
    Parameters parameters;
    const VAEncMiscParameterRateControl *rate;
    const VAEncMiscParameterFrameRate *frame_rate;
    const VAEncMiscParameterHRD *buffer;
    const VAEncMiscParameterTemporalLayerStructure *layers;
    // Packed headers in the order in which they came.
    struct {
        const VAEncPackedHeaderParameterBuffer *parameter;
        const uint8_t *data;
        size_t size;
    } packed[16];
    int packed_count;
} Submission;

// submission.c
VAStatus gather(Driver *driver, const Context *context, Submission *submission);
VAStatus check_packed(Driver *driver, const Config *config, const Submission *submission);

// checks.c
VAStatus check_sequence(Driver *driver, const Context *context, const VAEncSequenceParameterBufferH264 *s);
VAStatus check_picture(Driver *driver, const Config *config, const Parameters *p);
int layer_of(const H264Encoder *encoder, uint32_t picture);
VAStatus check_references(Driver *driver, const H264Encoder *encoder, const Parameters *p, int layer);
void store_reference(H264Encoder *encoder, const Parameters *p, int layer);

// library.c
VAStatus open_library(Driver *driver, H264Encoder *encoder, const Config *config, const Parameters *p);
void set_rate(H264Encoder *encoder, int bit_rate, float frame_rate);
VAStatus run_library(
    Driver *driver, H264Encoder *encoder, const Context *context, const Config *config, const Submission *submission,
    SFrameBSInfo *info);

// stream.c
bool take_slice(H264Encoder *encoder, const SFrameBSInfo *info, uint8_t *header, size_t *length);
VAStatus put_stream(
    Driver *driver, H264Encoder *encoder, const Config *config, const Submission *submission, uint8_t library_header,
    size_t length, Output *output, int *qp);

#pragma GCC visibility pop
#endif
