// EncSlice: OpenH264 codes the picture, and its slice's data goes behind the header that the client asked for.
#include "headers.h"
#ifdef HAS_LIBVA
#include <libyuv.h>
#include <stdlib.h>
#include <wels/codec_api.h>

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
    float frame_rate;
    bool has_rate;
    int layers;
    int qp;
} H264Encoder;

// What a picture came with.
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

void destroy_encoder(H264Encoder *encoder) {
    if (!encoder) return;
    if (encoder->library) {
        (*encoder->library)->Uninitialize(encoder->library);
        WelsDestroySVCEncoder(encoder->library);
    }
    free(encoder->planes);
    free(encoder->payload);
    free(encoder);
}

// MARK: What came with the picture

static VAStatus read_misc(Driver *driver, const Buffer *buffer, Submission *submission) {
    const VAEncMiscParameterBuffer *misc = (const void *)buffer->data;
    if (buffer->size < sizeof *misc) return refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "an empty misc buffer");
    size_t room = buffer->size - sizeof *misc, needed = 0;
    switch (misc->type) {
    case VAEncMiscParameterTypeRateControl: {
        const VAEncMiscParameterRateControl *rate = submission->rate = (const void *)misc->data;
        needed = sizeof *rate;
        if (room < needed) break;
        log_line(
            driver,
            "RateControl bits_per_second=%u target_percentage=%u window_size=%u initial_qp=%u min_qp=%u max_qp=%u "
            "disable_frame_skip=%u disable_bit_stuffing=%u frame_tolerance_mode=%u",
            rate->bits_per_second, rate->target_percentage, rate->window_size, rate->initial_qp, rate->min_qp,
            rate->max_qp, rate->rc_flags.bits.disable_frame_skip, rate->rc_flags.bits.disable_bit_stuffing,
            rate->rc_flags.bits.frame_tolerance_mode);
        if (rate->min_qp > 51 || rate->max_qp > 51 || rate->initial_qp > 51
            || (rate->max_qp && rate->min_qp > rate->max_qp))
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "QP out of range");
        break;
    }
    case VAEncMiscParameterTypeFrameRate: {
        const VAEncMiscParameterFrameRate *rate = submission->frame_rate = (const void *)misc->data;
        needed = sizeof *rate;
        if (room < needed) break;
        uint32_t numerator = rate->framerate & 0xffff, denominator = rate->framerate >> 16;
        log_line(driver, "FrameRate %u/%u", numerator, denominator ? denominator : 1);
        if (!numerator) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "a frame rate of zero");
        break;
    }
    case VAEncMiscParameterTypeHRD: {
        const VAEncMiscParameterHRD *buffer = submission->buffer = (const void *)misc->data;
        needed = sizeof *buffer;
        if (room < needed) break;
        log_line(driver, "HRD buffer_size=%u initial_buffer_fullness=%u", buffer->buffer_size,
                 buffer->initial_buffer_fullness);
        if (buffer->initial_buffer_fullness > buffer->buffer_size)
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "a buffer fuller than it is large");
        break;
    }
    case VAEncMiscParameterTypeTemporalLayerStructure: {
        const VAEncMiscParameterTemporalLayerStructure *layers = submission->layers = (const void *)misc->data;
        needed = sizeof *layers;
        if (room < needed) break;
        log_line(driver, "TemporalLayerStructure layers=%u periodicity=%u", layers->number_of_layers,
                 layers->periodicity);
        if (layers->number_of_layers < 1 || layers->number_of_layers > (uint32_t)driver->layers)
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "%u layers", layers->number_of_layers);
        break;
    }
    case VAEncMiscParameterTypeQualityLevel: break;
    default: return refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "misc parameter %d", misc->type);
    }
    if (room < needed) return refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "misc parameter %d is short", misc->type);
    return VA_STATUS_SUCCESS;
}

static VAStatus gather(Driver *driver, const Context *context, Submission *submission) {
    for (int i = 0; i < context->rendered_count; i++) {
        Buffer *buffer = find_buffer(driver, context->rendered[i]);
        if (!buffer) return refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "a buffer was destroyed before EndPicture");
        if (buffer->mapped) return refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "a buffer is still mapped");
        const void *data = buffer->data;
        Parameters *parameters = &submission->parameters;
        switch ((int)buffer->type) {
        case VAEncSequenceParameterBufferType: parameters->sequence = data; break;
        case VAEncPictureParameterBufferType: parameters->picture = data; break;
        case VAEncSliceParameterBufferType:
            if (parameters->slice || buffer->count != 1)
                return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "more than one slice");
            parameters->slice = data;
            break;
        case VAEncMiscParameterBufferType: {
            VAStatus status = read_misc(driver, buffer, submission);
            if (status != VA_STATUS_SUCCESS) return status;
            break;
        }
        case VAEncPackedHeaderParameterBufferType:
            if (submission->packed_count == 16) return VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
            submission->packed[submission->packed_count++].parameter = data;
            break;
        case VAEncPackedHeaderDataBufferType: {
            int last = submission->packed_count - 1;
            if (last < 0 || submission->packed[last].data)
                return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "packed data without parameters");
            submission->packed[last].data = data;
            submission->packed[last].size = (size_t)buffer->size * buffer->count;
            break;
        }
        default:
            return refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type %d in a picture", buffer->type);
        }
    }
    return VA_STATUS_SUCCESS;
}

static VAStatus check_packed(Driver *driver, const Config *config, const Submission *submission) {
    uint32_t seen = 0;
    for (int i = 0; i < submission->packed_count; i++) {
        const VAEncPackedHeaderParameterBuffer *parameter = submission->packed[i].parameter;
        uint32_t kind = parameter->type == VAEncPackedHeaderSequence ? VA_ENC_PACKED_HEADER_SEQUENCE
            : parameter->type == VAEncPackedHeaderPicture ? VA_ENC_PACKED_HEADER_PICTURE
            : parameter->type == VAEncPackedHeaderSlice ? VA_ENC_PACKED_HEADER_SLICE
            : VA_ENC_PACKED_HEADER_RAW_DATA | VA_ENC_PACKED_HEADER_MISC;
        if (!(config->packed_headers & kind))
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "packed header %u is not in the configuration",
                          parameter->type);
        if (!submission->packed[i].data || parameter->bit_length > submission->packed[i].size * 8)
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "packed header %u is short", parameter->type);
        seen |= kind;
    }
    uint32_t needed = config->packed_headers & VA_ENC_PACKED_HEADER_SLICE;
    if (submission->parameters.picture->pic_fields.bits.idr_pic_flag)
        needed |= config->packed_headers & (VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE);
    if (needed & ~seen)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "packed headers 0x%x are missing", needed & ~seen);
    return VA_STATUS_SUCCESS;
}

// MARK: Checks

static VAStatus check_sequence(Driver *driver, const Context *context, const VAEncSequenceParameterBufferH264 *s) {
    const char *fault = NULL;
    if (s->seq_fields.bits.chroma_format_idc != 1) fault = "chroma is not 4:2:0";
    if (!s->seq_fields.bits.frame_mbs_only_flag) fault = "fields";
    if (s->seq_fields.bits.pic_order_cnt_type == 1) fault = "POC type 1";
    if (s->seq_fields.bits.seq_scaling_matrix_present_flag) fault = "a scaling matrix";
    if (s->bit_depth_luma_minus8 || s->bit_depth_chroma_minus8) fault = "more than 8 bits";
    if (s->max_num_ref_frames < 1 || s->max_num_ref_frames > 16) fault = "max_num_ref_frames";
    if (s->ip_period != 1 && s->ip_period != 0) fault = "B pictures";
    if (!s->picture_width_in_mbs || !s->picture_height_in_mbs || s->picture_width_in_mbs * 16 > MAXIMUM_SIDE
        || s->picture_height_in_mbs * 16 > MAXIMUM_SIDE || s->picture_width_in_mbs * 16 < context->width
        || s->picture_height_in_mbs * 16 < context->height || s->picture_width_in_mbs * 16 >= context->width + 16
        || s->picture_height_in_mbs * 16 >= context->height + 16)
        fault = "the size is not the context's";
    return fault ? refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "sequence: %s", fault) : VA_STATUS_SUCCESS;
}

static VAStatus check_picture(Driver *driver, const Config *config, const Parameters *p) {
    const VAEncPictureParameterBufferH264 *c = p->picture;
    const VAEncSliceParameterBufferH264 *s = p->slice;
    const char *fault = NULL;
    if (c->pic_fields.bits.transform_8x8_mode_flag) fault = "8x8 transforms";
    if (c->pic_fields.bits.weighted_pred_flag || c->pic_fields.bits.weighted_bipred_idc) fault = "weights";
    if (c->pic_fields.bits.constrained_intra_pred_flag) fault = "constrained intra prediction";
    if (c->pic_fields.bits.redundant_pic_cnt_present_flag) fault = "redundant pictures";
    if (c->pic_fields.bits.pic_scaling_matrix_present_flag) fault = "a scaling matrix";
    if (c->pic_fields.bits.entropy_coding_mode_flag && config->profile == VAProfileH264ConstrainedBaseline)
        fault = "CABAC in Constrained Baseline";
    if (c->chroma_qp_index_offset || c->second_chroma_qp_index_offset) fault = "a chroma QP offset";
    if (c->pic_init_qp > 51) fault = "pic_init_qp";
    if (c->pic_fields.bits.idr_pic_flag && !c->pic_fields.bits.reference_pic_flag) fault = "an IDR picture, unreferred to";
    if (s->macroblock_address || s->num_macroblocks != (uint32_t)p->sequence->picture_width_in_mbs
            * p->sequence->picture_height_in_mbs)
        fault = "the slice is not the whole picture";
    if (s->slice_type % 5 != 0 && s->slice_type % 5 != 2) fault = "slice_type";
    if (c->pic_fields.bits.idr_pic_flag && s->slice_type % 5 != 2) fault = "an IDR picture that is predicted";
    if (s->pic_parameter_set_id != c->pic_parameter_set_id) fault = "the slice has another PPS";
    if (s->cabac_init_idc) fault = "cabac_init_idc other than 0";
    if (s->disable_deblocking_filter_idc || s->slice_alpha_c0_offset_div2 || s->slice_beta_offset_div2)
        fault = "deblocking other than the usual";
    if (s->num_ref_idx_active_override_flag ? s->num_ref_idx_l0_active_minus1 : c->num_ref_idx_l0_active_minus1)
        fault = "more than one reference in use";
    return fault ? refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "picture: %s", fault) : VA_STATUS_SUCCESS;
}

static int layer_of(const H264Encoder *encoder, uint32_t picture) {
    if (encoder->layers == 3) return (const int[]){0, 2, 1, 2}[picture % 4];
    return encoder->layers == 2 ? (int)(picture % 2) : 0;
}

// The reference that OpenH264 takes: the newest of its layer or a lower one.
static int reference_for(const H264Encoder *encoder, int layer) {
    for (int i = encoder->reference_count - 1; i >= 0; i--) {
        if (encoder->references[i].layer <= layer) return i;
    }
    return -1;
}

static bool is_in_dpb(const H264Encoder *encoder, const VAPictureH264 *picture) {
    for (int i = 0; i < encoder->reference_count; i++) {
        if (encoder->references[i].surface == picture->picture_id && encoder->references[i].frame_num == picture->frame_idx)
            return true;
    }
    return false;
}

// Checks the client's idea of the decoded picture buffer against the driver's.
static VAStatus check_references(Driver *driver, const H264Encoder *encoder, const Parameters *p, int layer) {
    const VAEncPictureParameterBufferH264 *c = p->picture;
    if (!find_surface(driver, c->CurrPic.picture_id))
        return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x to rebuild into", c->CurrPic.picture_id);
    if (c->pic_fields.bits.idr_pic_flag) {
        if (c->frame_num) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "an IDR picture's frame_num");
        return VA_STATUS_SUCCESS;
    }
    uint32_t count = 1u << (p->sequence->seq_fields.bits.log2_max_frame_num_minus4 + 4);
    uint32_t expected = (encoder->previous_frame_num + encoder->previous_was_reference) % count;
    if (c->frame_num != expected)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "frame_num %u, not %u", c->frame_num, expected);
    if (!c->pic_fields.bits.reference_pic_flag != (encoder->layers > 1 && layer == encoder->layers - 1))
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "reference_pic_flag %u in layer %d",
                      c->pic_fields.bits.reference_pic_flag, layer);
    for (int i = 0; i < encoder->reference_count; i++) {
        if (encoder->references[i].surface == c->CurrPic.picture_id)
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "surface 0x%x is a reference still",
                          c->CurrPic.picture_id);
    }
    for (int i = 0; i < 16; i++) {
        const VAPictureH264 *picture = &c->ReferenceFrames[i];
        if (picture->picture_id == VA_INVALID_SURFACE || picture->flags & VA_PICTURE_H264_INVALID) continue;
        if (!is_in_dpb(encoder, picture))
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "ReferenceFrames[%d] (0x%x, frame_num %u) is no "
                          "reference", i, picture->picture_id, picture->frame_idx);
    }
    if (p->slice->slice_type % 5 == 2) return VA_STATUS_SUCCESS;
    const VAPictureH264 *first = &p->slice->RefPicList0[0];
    if (!is_in_dpb(encoder, first))
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "RefPicList0[0] (0x%x, frame_num %u) is no reference",
                      first->picture_id, first->frame_idx);
    if (!find_surface(driver, first->picture_id))
        return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "the reference 0x%x is gone", first->picture_id);
    int index = reference_for(encoder, layer);
    if (index < 0 || encoder->references[index].surface != first->picture_id)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "0x%x is not the newest reference of layer %d",
                      first->picture_id, layer);
    return VA_STATUS_SUCCESS;
}

static void store_reference(H264Encoder *encoder, const Parameters *p, int layer) {
    const VAEncPictureParameterBufferH264 *c = p->picture;
    if (c->pic_fields.bits.idr_pic_flag) encoder->reference_count = 0;
    encoder->previous_frame_num = c->frame_num;
    encoder->previous_was_reference = c->pic_fields.bits.reference_pic_flag != 0;
    if (!encoder->previous_was_reference) return;
    // The sliding window (H.264 8.2.5.3).
    if (encoder->reference_count >= (int)p->sequence->max_num_ref_frames) {
        encoder->reference_count--;
        memmove(encoder->references, encoder->references + 1, sizeof(Reference) * (size_t)encoder->reference_count);
    }
    encoder->references[encoder->reference_count++] = (Reference){c->CurrPic.picture_id, c->frame_num, layer};
}

// MARK: OpenH264

static VAStatus open_library(Driver *driver, H264Encoder *encoder, const Config *config, const Parameters *p) {
    if (encoder->library) {
        (*encoder->library)->Uninitialize(encoder->library);
        WelsDestroySVCEncoder(encoder->library);
        encoder->library = NULL;
    }
    encoder->started = false;
    if (WelsCreateSVCEncoder(&encoder->library) || !encoder->library) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    SEncParamExt *s = &encoder->settings;
    (*encoder->library)->GetDefaultParams(encoder->library, s);
    int quiet = 0, format = videoFormatI420;
    (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_TRACE_LEVEL, &quiet);
    bool cabac = p->picture->pic_fields.bits.entropy_coding_mode_flag;
    s->iUsageType = CAMERA_VIDEO_REAL_TIME;
    s->iPicWidth = p->sequence->picture_width_in_mbs * 16;
    s->iPicHeight = p->sequence->picture_height_in_mbs * 16;
    s->iTargetBitrate = encoder->bit_rate;
    s->fMaxFrameRate = encoder->frame_rate;
    s->iMaxBitrate = UNSPECIFIED_BIT_RATE;
    s->iRCMode = config->rate_control == VA_RC_CQP ? RC_OFF_MODE : RC_BITRATE_MODE;
    s->iSpatialLayerNum = 1;
    s->iTemporalLayerNum = encoder->layers;
    s->iNumRefFrame = AUTO_REF_PIC_COUNT;
    s->iComplexityMode = LOW_COMPLEXITY;
    s->uiIntraPeriod = 0;
    s->eSpsPpsIdStrategy = CONSTANT_ID;
    s->bPrefixNalAddingCtrl = false;
    s->bEnableSSEI = false;
    s->iEntropyCodingModeFlag = cabac;
    s->iMultipleThreadIdc = 1;
    s->bEnableDenoise = false;
    s->bEnableBackgroundDetection = false;
    s->bEnableSceneChangeDetect = false;
    s->bEnableFrameSkip = false;
    s->bFixRCOverShoot = false;
    s->iMinQp = 10;
    s->iMaxQp = 51;
    s->iLoopFilterDisableIdc = 0;
    SSpatialLayerConfig *layer = &s->sSpatialLayers[0];
    layer->iVideoWidth = s->iPicWidth;
    layer->iVideoHeight = s->iPicHeight;
    layer->fFrameRate = s->fMaxFrameRate;
    layer->iSpatialBitrate = s->iTargetBitrate;
    layer->iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE;
    layer->uiProfileIdc = cabac ? PRO_MAIN : PRO_BASELINE;
    layer->uiLevelIdc = LEVEL_5_2;
    layer->iDLayerQp = encoder->qp = 30;
    layer->sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
    if ((*encoder->library)->InitializeExt(encoder->library, s))
        return refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "OpenH264 does not take the settings");
    (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_DATAFORMAT, &format);
    return VA_STATUS_SUCCESS;
}

static void set_rate(H264Encoder *encoder, int bit_rate, float frame_rate) {
    if (encoder->library && frame_rate != encoder->frame_rate)
        (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_FRAME_RATE, &frame_rate);
    if (encoder->library && bit_rate != encoder->bit_rate) {
        SBitrateInfo rate = {SPATIAL_LAYER_ALL, bit_rate};
        (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_BITRATE, &rate);
    }
    encoder->bit_rate = bit_rate;
    encoder->frame_rate = frame_rate;
}

// Encodes the next picture with a constant QP where there is one.
static void pin_qp(H264Encoder *encoder, int qp) {
    if (qp == encoder->qp) return;
    SEncParamExt settings;
    (*encoder->library)->GetOption(encoder->library, ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, &settings);
    settings.sSpatialLayers[0].iDLayerQp = encoder->qp = qp;
    (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, &settings);
}

static VAStatus run_library(
    Driver *driver, H264Encoder *encoder, const Context *context, const Config *config, const Submission *submission,
    SFrameBSInfo *info) {
    const Parameters *p = &submission->parameters;
    const Surface *surface = find_surface(driver, context->target);
    int width = p->sequence->picture_width_in_mbs * 16, height = p->sequence->picture_height_in_mbs * 16;
    if (!surface || surface->stride < width || (surface->height + 15) / 16 * 16 < height)
        return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "the surface is smaller than the picture");
    int rows = (surface->height + 15) / 16 * 16;
    uint8_t *luma = encoder->planes, *blue = luma + width * height, *red = blue + width * height / 4;
    NV12ToI420(surface->samples, surface->stride, surface->samples + (size_t)surface->stride * rows, surface->stride,
               luma, width, blue, width / 2, red, width / 2, width, height);
    const VAEncMiscParameterRateControl *rate = submission->rate;
    int qp = -1, usual = config->rate_control == VA_RC_CQP ? RC_OFF_MODE : RC_BITRATE_MODE, off = RC_OFF_MODE;
    if (config->rate_control == VA_RC_CQP) qp = p->picture->pic_init_qp + p->slice->slice_qp_delta;
    else if (rate && rate->min_qp && rate->min_qp == rate->max_qp) qp = (int)rate->min_qp;
    if (qp > 51 || qp < -1) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "QP %d", qp);
    if (qp >= 0) pin_qp(encoder, qp);
    if (p->picture->pic_fields.bits.idr_pic_flag && encoder->started)
        (*encoder->library)->ForceIntraFrame(encoder->library, true);
    SSourcePicture source = {
        .iColorFormat = videoFormatI420, .iStride = {width, width / 2, width / 2}, .pData = {luma, blue, red},
        .iPicWidth = width, .iPicHeight = height};
    if (qp >= 0 && usual != off) (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_RC_MODE, &off);
    int result = (*encoder->library)->EncodeFrame(encoder->library, &source, info);
    if (qp >= 0 && usual != off) (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_RC_MODE, &usual);
    if (result || info->eFrameType == videoFrameTypeSkip || info->eFrameType == videoFrameTypeInvalid)
        return refuse(driver, VA_STATUS_ERROR_ENCODING_ERROR, "OpenH264 made no frame (%d)", result);
    encoder->started = true;
    return VA_STATUS_SUCCESS;
}

// MARK: The stream

// Splits a NAL unit of `bytes` from its start code; the unit's first byte is its header.
static const uint8_t *skip_start_code(const uint8_t *bytes, size_t *count) {
    size_t one = 0;
    while (one < *count && bytes[one] == 0) one++;
    if (one + 1 >= *count) return NULL;
    *count -= one + 1;
    return bytes + one + 1;
}

// Finds OpenH264's slice, without emulation prevention, and reads its parameter sets.
static bool take_slice(H264Encoder *encoder, const SFrameBSInfo *info, uint8_t *header, size_t *length) {
    bool found = false;
    for (int i = 0; i < info->iLayerNum; i++) {
        const SLayerBSInfo *layer = &info->sLayerInfo[i];
        const uint8_t *next = layer->pBsBuf;
        for (int n = 0; n < layer->iNalCount; n++) {
            size_t count = (size_t)layer->pNalLengthInByte[n];
            const uint8_t *unit = skip_start_code(next, &count);
            next += layer->pNalLengthInByte[n];
            if (!unit || count - 1 > encoder->payload_capacity) return false;
            int type = unit[0] & 31;
            if ((type == 1 || type == 5) && found) return false;
            if (type != 1 && type != 5 && type != 7 && type != 8) continue;
            size_t size = remove_emulation(unit + 1, count - 1, encoder->payload);
            if (type == 7 && !read_sequence_syntax(encoder->payload, size, &encoder->syntax)) return false;
            if (type == 8 && !read_picture_syntax(encoder->payload, size, &encoder->syntax)) return false;
            if (type == 7 || type == 8) continue;
            found = true;
            *header = unit[0];
            *length = size;
        }
    }
    return found;
}

// The header that the client packed, as far as slice_qp_delta; false where it contradicts the parameters.
static bool copy_packed_start(
    BitWriter *writer, const uint8_t *data, size_t bits, bool has_emulation, const Parameters *p, uint8_t *unit_header) {
    size_t count = (bits + 7) / 8;
    const uint8_t *unit = skip_start_code(data, &count);
    uint8_t plain[256];
    if (!unit || count - 1 > sizeof plain) return false;
    size_t size = has_emulation ? remove_emulation(unit + 1, count - 1, plain) : count - 1;
    if (!has_emulation) memcpy(plain, unit + 1, count - 1);
    BitReader reader = {plain, 0, size * 8, false};
    HeaderSyntax syntax = syntax_of(p);
    SliceHeader header;
    if (!read_slice_header(&reader, unit[0], &syntax, &header)) return false;
    bool idr = p->picture->pic_fields.bits.idr_pic_flag;
    if ((header.nal_type == 5) != idr || header.frame_num != p->picture->frame_num
        || (idr && header.idr_pic_id != p->slice->idr_pic_id)
        || !header.nal_ref_idc != !p->picture->pic_fields.bits.reference_pic_flag
        || (syntax.poc_type == 0 && header.poc_lsb != p->slice->pic_order_cnt_lsb)
        || header.slice_type != p->slice->slice_type % 5)
        return false;
    *unit_header = unit[0];
    BitReader start = {plain, 0, size * 8, false};
    while (start.next < header.qp_position) write_bits(writer, 1, read_bits(&start, 1));
    return true;
}

static VAStatus put_slice(
    Driver *driver, H264Encoder *encoder, const Submission *submission, int packed, uint8_t library_header,
    size_t length, Output *output, int *qp) {
    const Parameters *p = &submission->parameters;
    BitReader reader = {encoder->payload, 0, length * 8, false};
    SliceHeader made;
    if (!read_slice_header(&reader, library_header, &encoder->syntax, &made))
        return refuse(driver, VA_STATUS_ERROR_ENCODING_ERROR, "OpenH264's slice header makes no sense");
    *qp = encoder->syntax.initial_qp + made.qp_delta;
    size_t capacity = length + 512;
    uint8_t *payload = calloc(capacity, 1);
    if (!payload) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    BitWriter writer = {payload, 0, capacity * 8, false};
    bool idr = p->picture->pic_fields.bits.idr_pic_flag;
    uint8_t unit_header =
        (uint8_t)((idr ? 3 : p->picture->pic_fields.bits.reference_pic_flag ? 2 : 0) << 5 | (idr ? 5 : 1));
    if (packed >= 0) {
        const VAEncPackedHeaderParameterBuffer *parameter = submission->packed[packed].parameter;
        if (!copy_packed_start(&writer, submission->packed[packed].data, parameter->bit_length,
                               parameter->has_emulation_bytes, p, &unit_header)) {
            free(payload);
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "the packed slice header contradicts the parameters");
        }
    } else {
        int modification = -1;
        if (p->slice->slice_type % 5 == 0 && encoder->reference_count > 1) {
            uint32_t wanted = p->slice->RefPicList0[0].frame_idx;
            uint32_t count = 1u << (p->sequence->seq_fields.bits.log2_max_frame_num_minus4 + 4);
            if (encoder->references[encoder->reference_count - 1].frame_num != wanted)
                modification = (int)((p->picture->frame_num - wanted - 1 + count) % count);
        }
        write_slice_start(&writer, p, modification);
    }
    write_signed(&writer, *qp - p->picture->pic_init_qp);
    if (p->picture->pic_fields.bits.deblocking_filter_control_present_flag) {
        write_unsigned(&writer, 0);
        write_signed(&writer, 0);
        write_signed(&writer, 0);
    }
    BitReader data = {encoder->payload, made.data_position, length * 8, false};
    if (p->picture->pic_fields.bits.entropy_coding_mode_flag) {
        while (writer.next & 7) write_bits(&writer, 1, 1);
        data.next = (data.next + 7) / 8 * 8;
        while (data.next < data.end) write_bits(&writer, 8, read_bits(&data, 8));
    } else {
        // Up to the stop bit, which is the last one.
        size_t stop = data.end - 1;
        while (stop > data.next && !(encoder->payload[stop >> 3] >> (7 - (stop & 7)) & 1)) stop--;
        while (data.next < stop) write_bits(&writer, 1, read_bits(&data, 1));
        write_trailing_bits(&writer);
    }
    put_unit(output, unit_header, payload, writer.next / 8);
    free(payload);
    return writer.failed ? VA_STATUS_ERROR_ENCODING_ERROR : VA_STATUS_SUCCESS;
}

static VAStatus put_stream(
    Driver *driver, H264Encoder *encoder, const Config *config, const Submission *submission, uint8_t library_header,
    size_t length, Output *output, int *qp) {
    const Parameters *p = &submission->parameters;
    bool idr = p->picture->pic_fields.bits.idr_pic_flag;
    if (idr && !(config->packed_headers & VA_ENC_PACKED_HEADER_SEQUENCE)) put_sequence_set(output, p, config->profile);
    // A client that packs the SPS alone puts the PPS behind it.
    uint32_t sets = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE;
    if (idr && !(config->packed_headers & sets)) put_picture_set(output, p);
    int slice = -1;
    for (int i = 0; i < submission->packed_count; i++) {
        const VAEncPackedHeaderParameterBuffer *parameter = submission->packed[i].parameter;
        if (parameter->type == VAEncPackedHeaderSlice) {
            slice = i;
            continue;
        }
        size_t count = parameter->bit_length / 8;
        if (parameter->has_emulation_bytes) {
            for (size_t byte = 0; byte < count; byte++) put_byte(output, submission->packed[i].data[byte]);
        } else {
            const uint8_t *unit = skip_start_code(submission->packed[i].data, &count);
            if (unit) put_unit(output, unit[0], unit + 1, count - 1);
        }
    }
    return put_slice(driver, encoder, submission, slice, library_header, length, output, qp);
}

// MARK: A picture

static VAStatus prepare(
    Driver *driver, Context *context, const Config *config, Submission *submission, H264Encoder *encoder) {
    Parameters *p = &submission->parameters;
    bool idr = p->picture->pic_fields.bits.idr_pic_flag;
    if (p->sequence) {
        VAStatus status = check_sequence(driver, context, p->sequence);
        if (status != VA_STATUS_SUCCESS) return status;
        encoder->sequence = *p->sequence;
        encoder->has_sequence = true;
    }
    if (!encoder->has_sequence) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "no sequence parameters");
    p->sequence = &encoder->sequence;
    VAStatus status = check_picture(driver, config, p);
    if (status != VA_STATUS_SUCCESS) return status;
    if (!encoder->started && !idr)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "the first picture is no IDR picture");
    int bit_rate = encoder->bit_rate;
    float frame_rate = encoder->frame_rate > 0 ? encoder->frame_rate : 30;
    if (submission->rate)
        bit_rate = (int)((uint64_t)submission->rate->bits_per_second
            * (config->rate_control == VA_RC_VBR && submission->rate->target_percentage
                   ? submission->rate->target_percentage : 100) / 100);
    if (submission->frame_rate) {
        uint32_t value = submission->frame_rate->framerate;
        frame_rate = (float)(value & 0xffff) / (float)(value >> 16 ? value >> 16 : 1);
    }
    if (config->rate_control != VA_RC_CQP && bit_rate <= 0)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "no bit rate");
    if (bit_rate <= 0) bit_rate = 1000000;
    set_rate(encoder, bit_rate, frame_rate);
    int layers = submission->layers ? (int)submission->layers->number_of_layers : encoder->layers ? encoder->layers : 1;
    bool changes = encoder->library && (layers != encoder->layers || p->picture->pic_fields.bits.entropy_coding_mode_flag
                                            != (uint32_t)encoder->settings.iEntropyCodingModeFlag);
    if (changes && !idr) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "layers or CABAC change without an IDR");
    encoder->layers = layers;
    if (!encoder->library || changes) {
        size_t area = (size_t)p->sequence->picture_width_in_mbs * p->sequence->picture_height_in_mbs * 256;
        free(encoder->planes);
        free(encoder->payload);
        encoder->payload_capacity = area * 2 + 4096;
        encoder->planes = malloc(area * 3 / 2);
        encoder->payload = malloc(encoder->payload_capacity);
        if (!encoder->planes || !encoder->payload) return VA_STATUS_ERROR_ALLOCATION_FAILED;
        status = open_library(driver, encoder, config, p);
        if (status != VA_STATUS_SUCCESS) return status;
    }
    if (idr) encoder->pictures = 0;
    return check_references(driver, encoder, p, layer_of(encoder, encoder->pictures));
}

VAStatus encode_picture(Driver *driver, Context *context, const Config *config) {
    Submission submission;
    memset(&submission, 0, sizeof submission);
    if (!config) return refuse(driver, VA_STATUS_ERROR_INVALID_CONFIG, "the context's configuration is gone");
    VAStatus status = gather(driver, context, &submission);
    if (status != VA_STATUS_SUCCESS) return status;
    const Parameters *p = &submission.parameters;
    if (!p->picture || !p->slice)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "no %s parameters", p->picture ? "slice" : "picture");
    Buffer *coded = find_buffer(driver, p->picture->coded_buf);
    if (!coded || coded->type != VAEncCodedBufferType || coded->mapped)
        return refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "0x%x is no coded buffer", p->picture->coded_buf);
    status = check_packed(driver, config, &submission);
    if (status != VA_STATUS_SUCCESS) return status;
    H264Encoder *encoder = context->encoder ? context->encoder : calloc(1, sizeof *encoder);
    if (!encoder) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    context->encoder = encoder;
    status = prepare(driver, context, config, &submission, encoder);
    if (status != VA_STATUS_SUCCESS) return status;
    SFrameBSInfo info;
    memset(&info, 0, sizeof info);
    bool idr = p->picture->pic_fields.bits.idr_pic_flag;
    status = run_library(driver, encoder, context, config, &submission, &info);
    if (status != VA_STATUS_SUCCESS) return status;
    uint8_t header = 0;
    size_t length = 0;
    if (!take_slice(encoder, &info, &header, &length) || ((header & 31) == 5) != idr)
        return refuse(driver, VA_STATUS_ERROR_ENCODING_ERROR, "OpenH264's frame is not what was asked for");
    Output output = {coded->data, 0, (size_t)coded->size * coded->count, false};
    int qp = 0;
    status = put_stream(driver, encoder, config, &submission, header, length, &output, &qp);
    if (status != VA_STATUS_SUCCESS) return status;
    if (output.failed) return refuse(driver, VA_STATUS_ERROR_NOT_ENOUGH_BUFFER, "the coded buffer is too small");
    int layer = layer_of(encoder, encoder->pictures);
    store_reference(encoder, p, layer);
    encoder->pictures++;
    coded->segment = (VACodedBufferSegment){
        .size = (uint32_t)output.length, .status = (uint32_t)qp & VA_CODED_BUF_STATUS_PICTURE_AVE_QP_MASK,
        .buf = coded->data};
    coded->filled = true;
    log_line(driver, "frame idr=%d layer=%d frame_num=%u bytes=%zu qp=%d", idr, layer, p->picture->frame_num,
             output.length, qp);
    return VA_STATUS_SUCCESS;
}
#endif
