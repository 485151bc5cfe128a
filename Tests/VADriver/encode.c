// EncSlice: OpenH264 codes the picture, and its slice's data goes behind the header that the client asked for.
#include "encode.h"
#ifdef HAS_LIBVA
#include <stdlib.h>

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
    bool waits = encoder->started && config->rate_control != VA_RC_CQP && bit_rate != encoder->bit_rate
        && encoder->frames_at_old_rate < driver->rate_delay;
    encoder->frames_at_old_rate = waits ? encoder->frames_at_old_rate + 1 : 0;
    set_rate(encoder, waits ? encoder->bit_rate : bit_rate, frame_rate);
    int layers = submission->layers ? (int)submission->layers->number_of_layers : encoder->layers ? encoder->layers : 1;
    uint32_t cabac = p->picture->pic_fields.bits.entropy_coding_mode_flag;
    bool changes = encoder->library
        && (layers != encoder->layers || cabac != (uint32_t)encoder->settings.iEntropyCodingModeFlag);
    if (changes && !idr)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "layers or CABAC change without an IDR");
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
