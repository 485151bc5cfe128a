// Refuses parameters and references that the driver cannot encode, as strict drivers do.
#include "encode.h"
#ifdef HAS_LIBVA

VAStatus check_sequence(Driver *driver, const Context *context, const VAEncSequenceParameterBufferH264 *s) {
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

VAStatus check_picture(Driver *driver, const Config *config, const Parameters *p) {
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
    if (c->pic_fields.bits.idr_pic_flag && !c->pic_fields.bits.reference_pic_flag)
        fault = "an IDR picture, unreferred to";
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

int layer_of(const H264Encoder *encoder, uint32_t picture) {
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
        if (encoder->references[i].surface == picture->picture_id
            && encoder->references[i].frame_num == picture->frame_idx)
            return true;
    }
    return false;
}

// Checks the client's idea of the decoded picture buffer against the driver's.
VAStatus check_references(Driver *driver, const H264Encoder *encoder, const Parameters *p, int layer) {
    const VAEncPictureParameterBufferH264 *c = p->picture;
    if (!find_surface(driver, c->CurrPic.picture_id))
        return refuse(
            driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x to rebuild into", c->CurrPic.picture_id);
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

void store_reference(H264Encoder *encoder, const Parameters *p, int layer) {
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
#endif
