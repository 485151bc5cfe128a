// Puts the slices of tiles into one picture.
#pragma once
#include <array>

#include "syntax.h"

// A grid of equal tiles whose positions and sizes are whole macroblocks.
struct Grid {
    int columns = 3;
    int canvasWidth = 80, canvasHeight = 45;

    int tileWidth() const { return canvasWidth / columns; }
    int tileHeight() const { return canvasHeight / columns; }
    int cells() const { return columns * columns; }
};

// One frame of a tile: a slice for each macroblock row.
using TileFrame = std::vector<TileSlice>;

// The degree to which slices are put together.
enum class Joins {
    none,
    // Rows that are skipped as a whole become part of another slice.
    skippedRows,
    // Rows of neighbouring tiles become one slice too. Their encoders must not change the QP within a slice.
    rows
};

struct AssemblyCounts {
    long slices = 0, pictures = 0;
    // Of all slices, with their NAL units' headers and lengths.
    long headerBits = 0;
};

// One receiver's stream. It begins with a flat grey keyframe, as each tile's own stream does.
class Assembler {
public:
    Assembler(Grid grid, Joins joins) : grid(grid), joins(joins) {}

    // Parameter sets and the grey keyframe.
    size_t appendKeyframe(Bytes &stream);

    // Appends a P picture of the tiles, in the cells' order; cells without a tile (null) stay as they are. Returns the
    // size of the NAL units with two bytes each for their length in an RTP packet (STAP-A).
    size_t appendPicture(const std::vector<const TileFrame *> &tiles, Bytes &stream);

    AssemblyCounts counts;

private:
    // Skipped macroblocks that are not yet written.
    struct Run {
        int first = 0, count = 0;
        // The QP that the loop filter shall find there; 0 if any will do.
        int qp = 0;
    };

    // A P slice that further rows may be added to. Its last macroblock is skipped, in a run that is already written.
    struct OpenSlice {
        BitWriter writer;
        int first = -1, qp = 0;
    };

    void addSkips(int first, int count, int qp, Bytes &stream);
    void addSlice(const TileSlice &slice, int first, Bytes &stream);
    bool keepsOut(int sliceFirst, int first) const;
    bool canBridge() const;
    void writeBridge(int skips);
    void closeSlice(Bytes &stream);
    void flush(Bytes &stream);
    void writeHeader(BitWriter &writer, int first, bool isIntra, int qp);
    void emit(BitWriter &writer, Bytes &stream);

    Grid grid;
    Joins joins;
    uint32_t frameNumber = 0;
    Run run;
    OpenSlice open;
    size_t size = 0;
};
