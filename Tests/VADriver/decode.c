// VLD: libavcodec decodes the picture from its slices and from parameter sets that are written anew from the
// parameters, as libva hands over no parameter sets.
#include "decode.h"
#ifdef HAS_DECODER
#include "bits.h"
#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <stdlib.h>

enum { SET_CAPACITY = 1024, MAXIMUM_SLICES = 512 };

// The buffers of one picture.
typedef struct {
    const VAPictureParameterBufferH264 *picture;
    const VAIQMatrixBufferH264 *matrices;
    const VASliceParameterBufferH264 *slices[MAXIMUM_SLICES];
    const uint8_t *data[MAXIMUM_SLICES];
    size_t sizes[MAXIMUM_SLICES];
    int slice_count, data_count;
} Submitted;

struct H264Decoder {
    AVCodecContext *library;
    AVPacket *packet;
    AVFrame *out;
    // The memory into which libavcodec decodes the present picture.
    AVFrame *picture;
    Submitted submitted;
    uint8_t sets[SET_CAPACITY * 2];
    size_t sets_length;
};

void destroy_decoder(struct H264Decoder *decoder) {
    if (!decoder) return;
    avcodec_free_context(&decoder->library);
    av_packet_free(&decoder->packet);
    av_frame_free(&decoder->out);
    av_frame_free(&decoder->picture);
    free(decoder);
}

static int get_memory(AVCodecContext *library, AVFrame *frame, int flags) {
    struct H264Decoder *decoder = library->opaque;
    int result = avcodec_default_get_buffer2(library, frame, flags);
    if (result < 0) return result;
    av_frame_unref(decoder->picture);
    return av_frame_ref(decoder->picture, frame);
}

static struct H264Decoder *make_decoder(void) {
    struct H264Decoder *decoder = calloc(1, sizeof *decoder);
    const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_H264);
    if (!decoder || !codec) return decoder ? (free(decoder), NULL) : NULL;
    decoder->library = avcodec_alloc_context3(codec);
    decoder->packet = av_packet_alloc();
    decoder->out = av_frame_alloc();
    decoder->picture = av_frame_alloc();
    if (decoder->library && decoder->packet && decoder->out && decoder->picture) {
        decoder->library->thread_count = 1;
        decoder->library->opaque = decoder;
        decoder->library->get_buffer2 = get_memory;
        decoder->library->flags |= AV_CODEC_FLAG_LOW_DELAY;
        if (avcodec_open2(decoder->library, codec, NULL) == 0) return decoder;
    }
    destroy_decoder(decoder);
    return NULL;
}

static VAStatus collect(Driver *driver, const Context *context, Submitted *submitted) {
    for (int i = 0; i < context->rendered_count; i++) {
        Buffer *buffer = find_buffer(driver, context->rendered[i]);
        if (!buffer) return refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "a buffer was destroyed before EndPicture");
        if (buffer->mapped) return refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "a buffer is still mapped");
        switch ((int)buffer->type) {
        case VAPictureParameterBufferType: submitted->picture = (const void *)buffer->data; break;
        case VAIQMatrixBufferType: submitted->matrices = (const void *)buffer->data; break;
        case VASliceParameterBufferType:
            for (unsigned j = 0; j < buffer->count; j++) {
                if (submitted->slice_count == MAXIMUM_SLICES) return VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
                const VASliceParameterBufferH264 *slices = (const void *)buffer->data;
                submitted->slices[submitted->slice_count++] = slices + j;
            }
            break;
        case VASliceDataBufferType:
            if (submitted->data_count == MAXIMUM_SLICES) return VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
            submitted->data[submitted->data_count] = buffer->data;
            submitted->sizes[submitted->data_count++] = (size_t)buffer->size * buffer->count;
            break;
        default:
            return refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type %d in a picture", buffer->type);
        }
    }
    if (!submitted->picture || !submitted->matrices || !submitted->slice_count)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "parameters of the picture are missing");
    if (submitted->data_count != submitted->slice_count)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "%d slices have %d buffers of data",
                      submitted->slice_count, submitted->data_count);
    return VA_STATUS_SUCCESS;
}

static VAStatus check_decoding(Driver *driver, const Context *context, const Submitted *submitted) {
    const VAPictureParameterBufferH264 *p = submitted->picture;
    const Surface *target = find_surface(driver, context->target);
    int width = (p->picture_width_in_mbs_minus1 + 1) * 16, height = (p->picture_height_in_mbs_minus1 + 1) * 16;
    const char *fault = NULL;
    if (p->seq_fields.bits.chroma_format_idc != 1) fault = "chroma is not 4:2:0";
    if (p->bit_depth_luma_minus8 || p->bit_depth_chroma_minus8) fault = "more than 8 bits";
    // Its offsets are not in the parameters.
    if (p->seq_fields.bits.pic_order_cnt_type == 1) fault = "POC type 1";
    if (p->seq_fields.bits.pic_order_cnt_type > 2) fault = "the POC type";
    if (p->num_ref_frames > 16) fault = "num_ref_frames";
    if (p->CurrPic.picture_id != context->target) fault = "the picture is not the target";
    if (!target || target->fourcc != VA_FOURCC_NV12 || target->width < width || target->height < height)
        fault = "the surface is too small";
    if (fault) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "decoding: %s", fault);
    for (int i = 0; i < 16; i++) {
        const VAPictureH264 *reference = &p->ReferenceFrames[i];
        if (reference->flags & VA_PICTURE_H264_INVALID || reference->picture_id == VA_INVALID_SURFACE) continue;
        const Surface *surface = find_surface(driver, reference->picture_id);
        if (!surface)
            return refuse(
                driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x to refer to", reference->picture_id);
        if (!surface->decoded)
            return refuse(
                driver, VA_STATUS_ERROR_INVALID_PARAMETER, "nothing is decoded in 0x%x", reference->picture_id);
    }
    for (int i = 0; i < submitted->slice_count; i++) {
        const VASliceParameterBufferH264 *slice = submitted->slices[i];
        if (slice->slice_data_flag != VA_SLICE_DATA_FLAG_ALL
            || (size_t)slice->slice_data_offset + slice->slice_data_size > submitted->sizes[i]
            || slice->slice_data_size < 2)
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "slice %d lies outside its data", i);
        for (int list = 0; list < 2; list++) {
            int kind = slice->slice_type % 5, used = list ? kind == 1 : kind == 0 || kind == 1 || kind == 3;
            int count = list ? slice->num_ref_idx_l1_active_minus1 + 1 : slice->num_ref_idx_l0_active_minus1 + 1;
            const VAPictureH264 *entries = list ? slice->RefPicList1 : slice->RefPicList0;
            for (int j = 0; used && j < count && j < 32; j++) {
                const Surface *surface = find_surface(driver, entries[j].picture_id);
                if (!surface || !surface->decoded)
                    return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "slice %d refers to nothing", i);
            }
        }
    }
    return VA_STATUS_SUCCESS;
}

static const uint8_t zigzag4[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
static const uint8_t zigzag8[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static void write_list(BitWriter *bits, const uint8_t *list, const uint8_t *order, int count) {
    int last = 8;
    write_bits(bits, 1, 1);
    for (int i = 0; i < count; i++) {
        int next = list[order[i]], delta = next - last;
        write_signed(bits, delta > 127 ? delta - 256 : delta < -128 ? delta + 256 : delta);
        last = next;
    }
}

static bool is_flat(const VAIQMatrixBufferH264 *m) {
    const uint8_t *values = (const uint8_t *)m->ScalingList4x4;
    for (size_t i = 0; i < sizeof m->ScalingList4x4; i++) {
        if (values[i] != 16) return false;
    }
    values = (const uint8_t *)m->ScalingList8x8;
    for (size_t i = 0; i < sizeof m->ScalingList8x8; i++) {
        if (values[i] != 16) return false;
    }
    return true;
}

static void write_sequence(BitWriter *bits, const VAPictureParameterBufferH264 *p) {
    write_bits(bits, 8, 100);
    write_bits(bits, 8, 0);
    write_bits(bits, 8, 52);
    write_unsigned(bits, 0);
    write_unsigned(bits, 1);
    write_unsigned(bits, 0);
    write_unsigned(bits, 0);
    write_bits(bits, 2, 0);
    write_unsigned(bits, p->seq_fields.bits.log2_max_frame_num_minus4);
    write_unsigned(bits, p->seq_fields.bits.pic_order_cnt_type);
    if (p->seq_fields.bits.pic_order_cnt_type == 0)
        write_unsigned(bits, p->seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4);
    write_unsigned(bits, p->num_ref_frames);
    write_bits(bits, 1, p->seq_fields.bits.gaps_in_frame_num_value_allowed_flag);
    write_unsigned(bits, p->picture_width_in_mbs_minus1);
    bool frames = p->seq_fields.bits.frame_mbs_only_flag;
    write_unsigned(bits, frames ? p->picture_height_in_mbs_minus1 : (p->picture_height_in_mbs_minus1 + 1u) / 2 - 1);
    write_bits(bits, 1, frames);
    if (!frames) write_bits(bits, 1, p->seq_fields.bits.mb_adaptive_frame_field_flag);
    write_bits(bits, 1, p->seq_fields.bits.direct_8x8_inference_flag);
    write_bits(bits, 2, 0);
    write_trailing_bits(bits);
}

static void write_picture(
    BitWriter *bits, const VAPictureParameterBufferH264 *p, const VAIQMatrixBufferH264 *m, uint32_t id,
    const uint32_t counts[2]) {
    write_unsigned(bits, id);
    write_unsigned(bits, 0);
    write_bits(bits, 1, p->pic_fields.bits.entropy_coding_mode_flag);
    write_bits(bits, 1, p->pic_fields.bits.pic_order_present_flag);
    write_unsigned(bits, 0);
    write_unsigned(bits, counts[0]);
    write_unsigned(bits, counts[1]);
    write_bits(bits, 1, p->pic_fields.bits.weighted_pred_flag);
    write_bits(bits, 2, p->pic_fields.bits.weighted_bipred_idc);
    write_signed(bits, p->pic_init_qp_minus26);
    write_signed(bits, p->pic_init_qs_minus26);
    write_signed(bits, p->chroma_qp_index_offset);
    write_bits(bits, 1, p->pic_fields.bits.deblocking_filter_control_present_flag);
    write_bits(bits, 1, p->pic_fields.bits.constrained_intra_pred_flag);
    write_bits(bits, 1, p->pic_fields.bits.redundant_pic_cnt_present_flag);
    write_bits(bits, 1, p->pic_fields.bits.transform_8x8_mode_flag);
    bool scales = !is_flat(m);
    write_bits(bits, 1, scales);
    if (scales) {
        for (int i = 0; i < 6; i++) write_list(bits, m->ScalingList4x4[i], zigzag4, 16);
        for (int i = 0; i < 2 && p->pic_fields.bits.transform_8x8_mode_flag; i++)
            write_list(bits, m->ScalingList8x8[i], zigzag8, 64);
    }
    write_signed(bits, p->second_chroma_qp_index_offset);
    write_trailing_bits(bits);
}

// Fields of a slice header that are not among the parameters.
typedef struct {
    uint32_t set;
    // The header has its own counts of references.
    bool overrides;
} SliceFacts;

static bool read_facts(
    const VAPictureParameterBufferH264 *p, const uint8_t *unit, size_t size, SliceFacts *facts) {
    uint8_t payload[64];
    size_t length = remove_emulation(unit + 1, size - 1 < sizeof payload ? size - 1 : sizeof payload, payload);
    BitReader bits = {payload, 0, length * 8, false};
    read_unsigned(&bits);
    uint32_t type = read_unsigned(&bits) % 5;
    facts->set = read_unsigned(&bits);
    read_bits(&bits, (int)p->seq_fields.bits.log2_max_frame_num_minus4 + 4);
    bool field = false;
    if (!p->seq_fields.bits.frame_mbs_only_flag && (field = read_bits(&bits, 1))) read_bits(&bits, 1);
    if ((unit[0] & 31) == 5) read_unsigned(&bits);
    if (p->seq_fields.bits.pic_order_cnt_type == 0) {
        read_bits(&bits, (int)p->seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 + 4);
        if (p->pic_fields.bits.pic_order_present_flag && !field) read_signed(&bits);
    }
    if (p->pic_fields.bits.redundant_pic_cnt_present_flag) read_unsigned(&bits);
    if (type == 1) read_bits(&bits, 1);
    facts->overrides = type == 2 || type == 4 || read_bits(&bits, 1);
    return !bits.failed && facts->set < 256;
}

static bool write_sets(struct H264Decoder *decoder) {
    const Submitted *submitted = &decoder->submitted;
    uint8_t payload[SET_CAPACITY / 2] = {0};
    Output output = {decoder->sets, 0, sizeof decoder->sets, false};
    BitWriter bits = {payload, 0, sizeof payload * 8, false};
    write_sequence(&bits, submitted->picture);
    put_unit(&output, 0x67, payload, bits.next / 8);
    bool failed = bits.failed, known[256] = {false};
    for (int i = 0; i < submitted->slice_count; i++) {
        SliceFacts facts;
        const uint8_t *unit = submitted->data[i] + submitted->slices[i]->slice_data_offset;
        if (!read_facts(submitted->picture, unit, submitted->slices[i]->slice_data_size, &facts)) return false;
        if (known[facts.set]) continue;
        known[facts.set] = true;
        // The usual counts are those of a slice that does not have its own.
        uint32_t counts[2] = {0, 0};
        for (int j = i; j < submitted->slice_count; j++) {
            const VASliceParameterBufferH264 *slice = submitted->slices[j];
            SliceFacts other;
            const uint8_t *data = submitted->data[j] + slice->slice_data_offset;
            if (!read_facts(submitted->picture, data, slice->slice_data_size, &other)) return false;
            if (other.set != facts.set || other.overrides) continue;
            counts[0] = slice->num_ref_idx_l0_active_minus1;
            if (slice->slice_type % 5 == 1) counts[1] = slice->num_ref_idx_l1_active_minus1;
        }
        bits = (BitWriter){payload, 0, sizeof payload * 8, false};
        write_picture(&bits, submitted->picture, submitted->matrices, facts.set, counts);
        failed = failed || bits.failed;
        put_unit(&output, 0x68, payload, bits.next / 8);
    }
    decoder->sets_length = output.length;
    return !failed && !output.failed;
}

static bool fill_packet(struct H264Decoder *decoder) {
    const Submitted *submitted = &decoder->submitted;
    size_t size = decoder->sets_length;
    for (int i = 0; i < submitted->slice_count; i++) size += submitted->slices[i]->slice_data_size + 4;
    av_packet_unref(decoder->packet);
    if (av_new_packet(decoder->packet, (int)size) < 0) return false;
    uint8_t *next = decoder->packet->data;
    memcpy(next, decoder->sets, decoder->sets_length);
    next += decoder->sets_length;
    for (int i = 0; i < submitted->slice_count; i++) {
        const VASliceParameterBufferH264 *slice = submitted->slices[i];
        memcpy(next, (const uint8_t[]){0, 0, 0, 1}, 4);
        memcpy(next + 4, submitted->data[i] + slice->slice_data_offset, slice->slice_data_size);
        next += 4 + slice->slice_data_size;
    }
    return true;
}

// Puts the decoded picture where the client looks for it: libavcodec's planes into NV12.
static void show(const AVFrame *picture, Surface *surface, int width, int height) {
    int rows = (surface->height + 15) / 16 * 16;
    uint8_t *chroma = surface->samples + (size_t)surface->stride * rows;
    for (int y = 0; y < height; y++) {
        const uint8_t *from = picture->data[0] + (ptrdiff_t)y * picture->linesize[0];
        memcpy(surface->samples + (size_t)y * surface->stride, from, (size_t)width);
    }
    for (int y = 0; y < height / 2; y++) {
        const uint8_t *blue = picture->data[1] + (ptrdiff_t)y * picture->linesize[1];
        const uint8_t *red = picture->data[2] + (ptrdiff_t)y * picture->linesize[2];
        uint8_t *to = chroma + (size_t)y * surface->stride;
        for (int x = 0; x < width / 2; x++) to[2 * x] = blue[x], to[2 * x + 1] = red[x];
    }
}

VAStatus decode_picture(Driver *driver, Context *context) {
    if (!context->decoder && !(context->decoder = make_decoder())) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    struct H264Decoder *decoder = context->decoder;
    memset(&decoder->submitted, 0, sizeof decoder->submitted);
    VAStatus status = collect(driver, context, &decoder->submitted);
    if (status == VA_STATUS_SUCCESS) status = check_decoding(driver, context, &decoder->submitted);
    if (status != VA_STATUS_SUCCESS) return status;
    if (!write_sets(decoder) || !fill_packet(decoder))
        return refuse(driver, VA_STATUS_ERROR_DECODING_ERROR, "a slice's header");
    int result = avcodec_send_packet(decoder->library, decoder->packet);
    while (avcodec_receive_frame(decoder->library, decoder->out) == 0) av_frame_unref(decoder->out);
    Surface *surface = find_surface(driver, context->target);
    if (result < 0 || !surface || !decoder->picture->data[0])
        return refuse(driver, VA_STATUS_ERROR_DECODING_ERROR, "libavcodec decodes nothing (%d)", result);
    const VAPictureParameterBufferH264 *p = decoder->submitted.picture;
    int width = (p->picture_width_in_mbs_minus1 + 1) * 16, height = (p->picture_height_in_mbs_minus1 + 1) * 16;
    show(decoder->picture, surface, width, height);
    surface->decoded = true;
    log_line(
        driver, "decoded 0x%x frame_num=%u slices=%d", context->target, p->frame_num, decoder->submitted.slice_count);
    return VA_STATUS_SUCCESS;
}
#endif
