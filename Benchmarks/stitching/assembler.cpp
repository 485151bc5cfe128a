#include "assembler.h"

namespace {
    constexpr int frameNumberBits = 4;
    // Close to the usual QP, so that the difference in each header is short.
    constexpr int initialQP = 30;
    constexpr uint8_t idrHeader = 0x65, sliceHeader = 0x61, spsHeader = 0x67, ppsHeader = 0x68;
    // mb_type of I_16x16 with DC prediction and no AC coefficients.
    constexpr uint32_t flatMacroblock = 3;
}

size_t Assembler::appendKeyframe(Bytes &stream) {
    BitWriter sps;
    sps.bits(66, 8);
    sps.bits(0xC0, 8);
    sps.bits(31, 8);
    sps.ue(0);
    sps.ue(frameNumberBits - 4);
    // Order count type 2: the order of decoding is the order of output, and slices say nothing about it.
    sps.ue(2);
    sps.ue(1);
    sps.bits(0, 1);
    sps.ue(uint32_t(grid.canvasWidth - 1));
    sps.ue(uint32_t(grid.canvasHeight - 1));
    // Frames only, direct_8x8_inference, no cropping, no VUI.
    sps.bits(0b1100, 4);
    sps.stop();
    BitWriter pps;
    pps.ue(0);
    pps.ue(0);
    pps.bits(0, 2);
    pps.ue(0);
    pps.ue(0);
    pps.ue(0);
    pps.bits(0, 3);
    pps.se(initialQP - 26);
    pps.se(0);
    pps.se(0);
    // No filter settings in slice headers: the filter is on with offsets of zero, as in OpenH264's own slices.
    pps.bits(0, 3);
    pps.stop();
    BitWriter picture;
    picture.ue(0);
    picture.ue(7);
    picture.ue(0);
    picture.bits(0, frameNumberBits);
    picture.ue(0);
    picture.bits(0, 2);
    picture.se(0);
    for (int i = 0; i < grid.canvasWidth * grid.canvasHeight; i++) {
        picture.ue(flatMacroblock);
        picture.ue(0);
        picture.se(0);
        // coeff_token of the 16 DC coefficients: none.
        picture.bits(1, 1);
    }
    picture.stop();
    frameNumber = 0;
    return appendUnit(stream, spsHeader, sps.bytes) + appendUnit(stream, ppsHeader, pps.bytes)
        + appendUnit(stream, idrHeader, picture.bytes) + 6;
}

size_t Assembler::appendPicture(const std::vector<const TileFrame *> &tiles, Bytes &stream) {
    frameNumber = (frameNumber + 1) & ((1u << frameNumberBits) - 1);
    size = 0;
    run = {};
    open = {};
    counts.pictures++;
    for (int row = 0; row < grid.canvasHeight; row++) {
        const int start = row * grid.canvasWidth, tileRow = row / grid.tileHeight();
        int x = 0;
        for (int column = 0; column < grid.columns && tileRow < grid.columns; column++, x += grid.tileWidth()) {
            const TileFrame *tile = tiles[size_t(tileRow * grid.columns + column)];
            if (!tile) {
                addSkips(start + x, grid.tileWidth(), 0, stream);
                continue;
            }
            const TileSlice &slice = (*tile)[size_t(row % grid.tileHeight())];
            if (slice.isSkipped) {
                addSkips(start + x, grid.tileWidth(), slice.qp, stream);
            } else {
                addSlice(slice, start + x, stream);
            }
        }
        if (x < grid.canvasWidth) addSkips(start + x, grid.canvasWidth - x, 0, stream);
    }
    flush(stream);
    closeSlice(stream);
    return size;
}

// A skipped macroblock has no motion here: its left neighbour has none or lies in another slice (8.4.1.1). So it means
// the same in any slice of the same QP, which the loop filter reads.
void Assembler::addSkips(int first, int count, int qp, Bytes &stream) {
    const bool agrees = run.qp == 0 || qp == 0 || run.qp == qp;
    if (run.count > 0 && (!agrees || joins == Joins::none)) flush(stream);
    if (run.count == 0) {
        run = {first, count, qp};
        return;
    }
    run.count += count;
    if (qp != 0) run.qp = qp;
}

// A row can become part of a slice if its first macroblock is skipped: that one alone sees its left neighbour come in.
void Assembler::addSlice(const TileSlice &slice, int first, Bytes &stream) {
    const bool canJoin = joins != Joins::none && !slice.isIntra && slice.leadingSkips > 0;
    const bool hasRunQP = run.qp == 0 || run.qp == slice.qp;
    if (canJoin && hasRunQP && open.first >= 0 && open.qp == slice.qp && keepsOut(open.first, first)) {
        writeBridge(run.count + slice.leadingSkips);
        open.writer.copy(slice.raw, slice.from, slice.to);
        run = {};
        return;
    }
    // The open slice rather than this one: so this one begins later and can take more neighbours.
    const bool takesRun = canJoin && run.count > 0 && hasRunQP && keepsOut(run.first, first) && !canBridge();
    if (!takesRun) flush(stream);
    closeSlice(stream);
    const int start = takesRun ? run.first : first;
    BitWriter writer;
    writeHeader(writer, start, slice.isIntra, slice.qp);
    if (!slice.isIntra) writer.ue(uint32_t(slice.leadingSkips + run.count));
    run = {};
    writer.copy(slice.raw, slice.from, slice.to);
    if (joins == Joins::rows && !slice.isIntra) {
        open = {std::move(writer), start, slice.qp};
    } else {
        emit(writer, stream);
    }
}

// True if the upper neighbours of a tile's row, which begins at `first`, lie before a slice.
bool Assembler::keepsOut(int sliceFirst, int first) const {
    const int right = first + grid.tileWidth() - grid.canvasWidth;
    return sliceFirst > (right % grid.canvasWidth == 0 ? right - 1 : right);
}

// Adds skipped macroblocks to the open slice. Behind its last run there must be a macroblock that is coded: the first
// of them is a P_L0_16x16 without motion and coefficients, which is decoded as if it were skipped.
void Assembler::writeBridge(int skips) {
    // mb_type 0, both differences of the vector 0, coded_block_pattern 0: each is one bit.
    open.writer.bits(0b1111, 4);
    open.writer.ue(uint32_t(skips - 1));
}

void Assembler::closeSlice(Bytes &stream) {
    if (open.first >= 0) emit(open.writer, stream);
    open = {};
}

// True if the run can be added to the open slice. Upper neighbours in it would give the bridge motion.
bool Assembler::canBridge() const {
    const bool isUpperRowOutside = open.first > run.first - grid.canvasWidth + 1;
    return open.first >= 0 && isUpperRowOutside && (run.qp == 0 || run.qp == open.qp);
}

// Writes the run at the end of the open slice, or as a slice of its own.
void Assembler::flush(Bytes &stream) {
    if (run.count == 0) return;
    if (canBridge()) {
        writeBridge(run.count);
        run = {};
        closeSlice(stream);
        return;
    }
    closeSlice(stream);
    BitWriter writer;
    writeHeader(writer, run.first, false, run.qp == 0 ? initialQP : run.qp);
    writer.ue(uint32_t(run.count));
    run = {};
    emit(writer, stream);
}

void Assembler::writeHeader(BitWriter &writer, int first, bool isIntra, int qp) {
    writer.ue(uint32_t(first));
    writer.ue(isIntra ? 2 : 0);
    writer.ue(0);
    writer.bits(frameNumber, frameNumberBits);
    // P slices: one reference as the PPS says, in the usual order. All: sliding window.
    writer.bits(0, isIntra ? 1 : 3);
    writer.se(qp - initialQP);
    counts.headerBits += long(writer.count()) + 24;
}

void Assembler::emit(BitWriter &writer, Bytes &stream) {
    writer.stop();
    size += appendUnit(stream, sliceHeader, writer.bytes) + 2;
    counts.slices++;
}
