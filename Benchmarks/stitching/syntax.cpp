#include "syntax.h"

void ParameterSets::readSPS(const Bytes &raw) {
    BitReader reader(raw);
    if (reader.bits(8) != 66) throw std::runtime_error("only the baseline profiles are supported");
    reader.bits(16);
    reader.ue();
    frameNumBits = int(reader.ue()) + 4;
    pocType = int(reader.ue());
    if (pocType == 1) throw std::runtime_error("unexpected order count type");
    if (pocType == 0) pocBits = int(reader.ue()) + 4;
}

void ParameterSets::readPPS(const Bytes &raw) {
    BitReader reader(raw);
    reader.ue();
    reader.ue();
    if (reader.flag()) throw std::runtime_error("CABAC data cannot be shifted by bits");
    reader.flag();
    if (reader.ue() != 0) throw std::runtime_error("slice groups are not supported");
    reader.ue();
    reader.ue();
    reader.bits(3);
    initialQP = 26 + reader.se();
    reader.se();
    chromaOffset = reader.se();
    hasDeblockingControl = reader.flag();
    if (reader.flag()) throw std::runtime_error("constrained intra prediction is not expected");
}

namespace {
    void skipReferenceFields(BitReader &reader) {
        if (reader.flag() && reader.ue() != 0) throw std::runtime_error("only one reference is supported");
        if (reader.flag()) {
            while (reader.ue() != 3) reader.ue();
        }
    }

    void skipMarking(BitReader &reader, bool isIDR) {
        if (isIDR) {
            reader.bits(2);
        } else if (reader.flag()) {
            throw std::runtime_error("adaptive reference marking is not supported");
        }
    }
}

TileSlice readSlice(const uint8_t *unit, size_t size, const ParameterSets &sets, int macroblocksPerRow) {
    TileSlice slice;
    slice.raw = rawPayload(unit, size);
    const bool isIDR = (unit[0] & 31) == 5;
    BitReader reader(slice.raw);
    slice.firstMacroblock = int(reader.ue());
    const uint32_t type = reader.ue() % 5;
    if (type != 0 && type != 2) throw std::runtime_error("only I and P slices are supported");
    slice.isIntra = type == 2;
    reader.ue();
    reader.bits(sets.frameNumBits);
    if (isIDR) reader.ue();
    if (sets.pocType == 0) reader.bits(sets.pocBits);
    if (!slice.isIntra) skipReferenceFields(reader);
    if (unit[0] >> 5 & 3) skipMarking(reader, isIDR);
    slice.qp = sets.initialQP + reader.se();
    if (sets.hasDeblockingControl) {
        const uint32_t disabled = reader.ue();
        if (disabled != 0 || reader.se() != 0 || reader.se() != 0) throw std::runtime_error("other filter settings");
    }
    // The stop bit is the last one that is set.
    size_t end = slice.raw.size();
    while (end > 0 && slice.raw[end - 1] == 0) end--;
    if (end == 0) throw std::runtime_error("empty slice");
    slice.to = end * 8 - 1 - size_t(__builtin_ctz(slice.raw[end - 1]));
    if (!slice.isIntra) {
        slice.leadingSkips = int(reader.ue());
        slice.isSkipped = reader.position() == slice.to;
        if (slice.isSkipped && slice.leadingSkips != macroblocksPerRow) throw std::runtime_error("slice is not a row");
    }
    slice.from = reader.position();
    return slice;
}
