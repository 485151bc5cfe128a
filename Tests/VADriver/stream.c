// Writes the coded picture: packed or own headers, and the data of OpenH264's slice.
#include "encode.h"
#ifdef HAS_LIBVA
#include <stdlib.h>

// Splits a NAL unit of `bytes` from its start code; the unit's first byte is its header.
static const uint8_t *skip_start_code(const uint8_t *bytes, size_t *count) {
    size_t one = 0;
    while (one < *count && bytes[one] == 0) one++;
    if (one + 1 >= *count) return NULL;
    *count -= one + 1;
    return bytes + one + 1;
}

// Finds OpenH264's slice, without emulation prevention, and reads its parameter sets.
bool take_slice(H264Encoder *encoder, const SFrameBSInfo *info, uint8_t *header, size_t *length) {
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

// The header that the client packed, as far as slice_qp_delta; false where it contradicts the parameters. The client
// has one active reference. OpenH264 has two in the upper ones of three layers, and its macroblocks say which: always
// the first. So the header says how many there are.
static bool copy_packed_start(
    BitWriter *writer, const uint8_t *data, size_t bits, bool has_emulation, const Parameters *p, int references,
    uint8_t *unit_header) {
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
        || header.slice_type != p->slice->slice_type % 5 || header.references != 1)
        return false;
    *unit_header = unit[0];
    BitReader start = {plain, 0, size * 8, false};
    while (start.next < header.references_position) write_bits(writer, 1, read_bits(&start, 1));
    if (header.slice_type == 0) write_reference_count(writer, p, references);
    start.next = header.references_end;
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
                               parameter->has_emulation_bytes, p, made.references, &unit_header)) {
            free(payload);
            return refuse(
                driver, VA_STATUS_ERROR_INVALID_PARAMETER, "the packed slice header contradicts the parameters");
        }
    } else {
        int modification = -1;
        if (p->slice->slice_type % 5 == 0 && encoder->reference_count > 1) {
            uint32_t wanted = p->slice->RefPicList0[0].frame_idx;
            uint32_t count = 1u << (p->sequence->seq_fields.bits.log2_max_frame_num_minus4 + 4);
            if (encoder->references[encoder->reference_count - 1].frame_num != wanted)
                modification = (int)((p->picture->frame_num - wanted - 1 + count) % count);
        }
        write_slice_start(&writer, p, modification, made.references);
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

VAStatus put_stream(
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
#endif
