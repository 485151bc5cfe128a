// H.264 headers: those that the driver writes itself, and the slice header that its client wrote.
#pragma once
#include "driver.h"
#ifdef HAS_LIBVA
#include "bits.h"

#pragma GCC visibility push(hidden)

typedef struct {
    const VAEncSequenceParameterBufferH264 *sequence;
    const VAEncPictureParameterBufferH264 *picture;
    const VAEncSliceParameterBufferH264 *slice;
} Parameters;

// What a slice header says, as far as the driver goes by it.
typedef struct {
    int nal_ref_idc, nal_type;
    uint32_t frame_num, idr_pic_id, poc_lsb, cabac_init_idc;
    int slice_type;
    // Of a P slice: its active references, and where the bits are that tell of them.
    int references;
    size_t references_position, references_end;
    int qp_delta;
    // The bits before slice_qp_delta, and those before the slice's data.
    size_t qp_position, data_position;
} SliceHeader;

// What one has to know of an SPS and a PPS to read slice headers.
typedef struct {
    int log2_max_frame_num, poc_type, log2_max_poc_lsb;
    bool cabac, deblocking_control, bottom_field_poc;
    int initial_qp;
} HeaderSyntax;

HeaderSyntax syntax_of(const Parameters *parameters);
// Reads the parameter sets of OpenH264.
bool read_sequence_syntax(const uint8_t *payload, size_t count, HeaderSyntax *syntax);
bool read_picture_syntax(const uint8_t *payload, size_t count, HeaderSyntax *syntax);
// `bits` begin behind the NAL unit's header, which is given apart.
bool read_slice_header(BitReader *bits, uint8_t unit_header, const HeaderSyntax *syntax, SliceHeader *header);

void put_sequence_set(Output *output, const Parameters *parameters, VAProfile profile);
void put_picture_set(Output *output, const Parameters *parameters);
// Writes all that comes before slice_qp_delta. `modification` is abs_diff_pic_num_minus1 of the first reference, -1 for
// none; `references` is the number of active ones.
void write_slice_start(BitWriter *writer, const Parameters *parameters, int modification, int references);
// Writes num_ref_idx_active_override_flag and what follows from it.
void write_reference_count(BitWriter *writer, const Parameters *parameters, int references);

#pragma GCC visibility pop
#endif
