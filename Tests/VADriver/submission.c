// Collects the buffers of one picture: parameters, packed headers, rates.
#include "encode.h"
#ifdef HAS_LIBVA

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

VAStatus gather(Driver *driver, const Context *context, Submission *submission) {
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

VAStatus check_packed(Driver *driver, const Config *config, const Submission *submission) {
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
#endif
