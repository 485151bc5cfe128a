#include "headers.h"
#ifdef HAS_LIBVA

HeaderSyntax syntax_of(const Parameters *p) {
    return (HeaderSyntax){
        .log2_max_frame_num = (int)p->sequence->seq_fields.bits.log2_max_frame_num_minus4 + 4,
        .poc_type = (int)p->sequence->seq_fields.bits.pic_order_cnt_type,
        .log2_max_poc_lsb = (int)p->sequence->seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 + 4,
        .cabac = p->picture->pic_fields.bits.entropy_coding_mode_flag,
        .deblocking_control = p->picture->pic_fields.bits.deblocking_filter_control_present_flag,
        .bottom_field_poc = p->picture->pic_fields.bits.pic_order_present_flag,
        .initial_qp = p->picture->pic_init_qp,
    };
}

bool read_sequence_syntax(const uint8_t *payload, size_t count, HeaderSyntax *syntax) {
    BitReader bits = {payload, 0, count * 8, false};
    uint32_t profile = read_bits(&bits, 8);
    read_bits(&bits, 16);
    read_unsigned(&bits);
    if (profile == 100) {
        if (read_unsigned(&bits) != 1) return false;
        read_unsigned(&bits);
        read_unsigned(&bits);
        read_bits(&bits, 1);
        if (read_bits(&bits, 1)) return false;
    }
    syntax->log2_max_frame_num = (int)read_unsigned(&bits) + 4;
    syntax->poc_type = (int)read_unsigned(&bits);
    if (syntax->poc_type == 1) return false;
    if (syntax->poc_type == 0) syntax->log2_max_poc_lsb = (int)read_unsigned(&bits) + 4;
    return !bits.failed;
}

bool read_picture_syntax(const uint8_t *payload, size_t count, HeaderSyntax *syntax) {
    BitReader bits = {payload, 0, count * 8, false};
    read_unsigned(&bits);
    read_unsigned(&bits);
    syntax->cabac = read_bits(&bits, 1);
    syntax->bottom_field_poc = read_bits(&bits, 1);
    if (read_unsigned(&bits)) return false;
    read_unsigned(&bits);
    read_unsigned(&bits);
    read_bits(&bits, 3);
    syntax->initial_qp = 26 + read_signed(&bits);
    read_signed(&bits);
    read_signed(&bits);
    syntax->deblocking_control = read_bits(&bits, 1);
    return !bits.failed;
}

bool read_slice_header(BitReader *bits, uint8_t unit_header, const HeaderSyntax *syntax, SliceHeader *header) {
    memset(header, 0, sizeof *header);
    header->nal_ref_idc = unit_header >> 5 & 3;
    header->nal_type = unit_header & 31;
    if (header->nal_type != 1 && header->nal_type != 5) return false;
    if (read_unsigned(bits)) return false;
    header->slice_type = (int)read_unsigned(bits) % 5;
    read_unsigned(bits);
    header->frame_num = read_bits(bits, syntax->log2_max_frame_num);
    if (header->nal_type == 5) header->idr_pic_id = read_unsigned(bits);
    if (syntax->poc_type == 0) {
        header->poc_lsb = read_bits(bits, syntax->log2_max_poc_lsb);
        if (syntax->bottom_field_poc) read_signed(bits);
    }
    bool predicted = header->slice_type == 0;
    if (!predicted && header->slice_type != 2) return false;
    header->references = 1;
    header->references_position = header->references_end = bits->next;
    if (predicted) {
        if (read_bits(bits, 1)) header->references = (int)read_unsigned(bits) + 1;
        header->references_end = bits->next;
        if (read_bits(bits, 1)) {
            while (!bits->failed && read_unsigned(bits) != 3) read_unsigned(bits);
        }
    }
    if (header->nal_ref_idc) {
        if (header->nal_type == 5) {
            read_bits(bits, 2);
        } else if (read_bits(bits, 1)) {
            uint32_t operation;
            while (!bits->failed && (operation = read_unsigned(bits)) != 0) {
                if (operation != 5) read_unsigned(bits);
                if (operation == 3) read_unsigned(bits);
            }
        }
    }
    if (syntax->cabac && predicted) header->cabac_init_idc = read_unsigned(bits);
    header->qp_position = bits->next;
    header->qp_delta = read_signed(bits);
    if (syntax->deblocking_control && read_unsigned(bits) != 1) {
        read_signed(bits);
        read_signed(bits);
    }
    header->data_position = bits->next;
    return !bits->failed;
}

void put_sequence_set(Output *output, const Parameters *p, VAProfile profile) {
    uint8_t payload[256] = {0};
    BitWriter bits = {payload, 0, sizeof payload * 8, false};
    const VAEncSequenceParameterBufferH264 *s = p->sequence;
    bool high = profile == VAProfileH264High;
    write_bits(&bits, 8, high ? 100 : profile == VAProfileH264Main ? 77 : 66);
    write_bits(&bits, 8, high ? 0 : profile == VAProfileH264Main ? 0x40 : 0xC0);
    write_bits(&bits, 8, s->level_idc);
    write_unsigned(&bits, s->seq_parameter_set_id);
    if (high) {
        write_unsigned(&bits, 1);
        write_unsigned(&bits, 0);
        write_unsigned(&bits, 0);
        write_bits(&bits, 2, 0);
    }
    write_unsigned(&bits, s->seq_fields.bits.log2_max_frame_num_minus4);
    write_unsigned(&bits, s->seq_fields.bits.pic_order_cnt_type);
    if (s->seq_fields.bits.pic_order_cnt_type == 0)
        write_unsigned(&bits, s->seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4);
    write_unsigned(&bits, s->max_num_ref_frames);
    write_bits(&bits, 1, 0);
    write_unsigned(&bits, s->picture_width_in_mbs - 1u);
    write_unsigned(&bits, s->picture_height_in_mbs - 1u);
    write_bits(&bits, 1, 1);
    write_bits(&bits, 1, s->seq_fields.bits.direct_8x8_inference_flag);
    write_bits(&bits, 1, s->frame_cropping_flag);
    if (s->frame_cropping_flag) {
        write_unsigned(&bits, s->frame_crop_left_offset);
        write_unsigned(&bits, s->frame_crop_right_offset);
        write_unsigned(&bits, s->frame_crop_top_offset);
        write_unsigned(&bits, s->frame_crop_bottom_offset);
    }
    write_bits(&bits, 1, 0);
    write_trailing_bits(&bits);
    put_unit(output, 0x67, payload, bits.next / 8);
}

void put_picture_set(Output *output, const Parameters *p) {
    uint8_t payload[64] = {0};
    BitWriter bits = {payload, 0, sizeof payload * 8, false};
    const VAEncPictureParameterBufferH264 *c = p->picture;
    write_unsigned(&bits, c->pic_parameter_set_id);
    write_unsigned(&bits, c->seq_parameter_set_id);
    write_bits(&bits, 1, c->pic_fields.bits.entropy_coding_mode_flag);
    write_bits(&bits, 1, c->pic_fields.bits.pic_order_present_flag);
    write_unsigned(&bits, 0);
    write_unsigned(&bits, c->num_ref_idx_l0_active_minus1);
    write_unsigned(&bits, c->num_ref_idx_l1_active_minus1);
    write_bits(&bits, 3, 0);
    write_signed(&bits, c->pic_init_qp - 26);
    write_signed(&bits, 0);
    write_signed(&bits, 0);
    write_bits(&bits, 1, c->pic_fields.bits.deblocking_filter_control_present_flag);
    write_bits(&bits, 2, 0);
    write_trailing_bits(&bits);
    put_unit(output, 0x68, payload, bits.next / 8);
}

void write_reference_count(BitWriter *bits, const Parameters *p, int references) {
    bool overridden = p->picture->num_ref_idx_l0_active_minus1 + 1 != references;
    write_bits(bits, 1, overridden);
    if (overridden) write_unsigned(bits, (uint32_t)references - 1);
}

void write_slice_start(BitWriter *bits, const Parameters *p, int modification, int references) {
    HeaderSyntax syntax = syntax_of(p);
    bool idr = p->picture->pic_fields.bits.idr_pic_flag;
    bool predicted = p->slice->slice_type % 5 == 0;
    write_unsigned(bits, 0);
    write_unsigned(bits, predicted ? 5 : 7);
    write_unsigned(bits, p->slice->pic_parameter_set_id);
    write_bits(bits, syntax.log2_max_frame_num, p->picture->frame_num);
    if (idr) write_unsigned(bits, p->slice->idr_pic_id);
    if (syntax.poc_type == 0) {
        write_bits(bits, syntax.log2_max_poc_lsb, p->slice->pic_order_cnt_lsb);
        if (syntax.bottom_field_poc) write_signed(bits, p->slice->delta_pic_order_cnt_bottom);
    }
    if (predicted) {
        write_reference_count(bits, p, references);
        write_bits(bits, 1, modification >= 0);
        if (modification >= 0) {
            write_unsigned(bits, 0);
            write_unsigned(bits, (uint32_t)modification);
            write_unsigned(bits, 3);
        }
    }
    if (p->picture->pic_fields.bits.reference_pic_flag) write_bits(bits, idr ? 2 : 1, 0);
    if (syntax.cabac && predicted) write_unsigned(bits, p->slice->cabac_init_idc);
}
#endif
