// The parts of OpenH264's streams that the study reads.
#pragma once
#include "bits.h"

// The fields of OpenH264's parameter sets that slice headers depend on.
struct ParameterSets {
    int frameNumBits = 0;
    int pocType = 0;
    int pocBits = 0;
    int initialQP = 26;
    bool hasDeblockingControl = false;
    int chromaOffset = 0;

    void readSPS(const Bytes &raw);
    void readPPS(const Bytes &raw);
};

// One macroblock row of a tile, ready to be put into any picture.
struct TileSlice {
    int firstMacroblock = 0;
    bool isIntra = false;
    int qp = 0;
    // P slices: the macroblocks that are skipped before the first coded one.
    int leadingSkips = 0;
    // True if all macroblocks of the row are skipped.
    bool isSkipped = false;
    Bytes raw;
    // The bits of the slice data in `raw`, without the first mb_skip_run (which is in leadingSkips) and the stop bit.
    size_t from = 0, to = 0;
};

// Throws if the slice has something that the assembly does not carry over, such as other filter settings.
TileSlice readSlice(const uint8_t *unit, size_t size, const ParameterSets &sets, int macroblocksPerRow);
