// Measures one way to serve N personal pictures; see README.md. Prints one line of JSON.
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "assembler.h"
#include "codecs.h"
#include "picture.h"
#include "rate.h"

namespace {
    constexpr int margin = 16;
    constexpr int canvasWidth = 1280, canvasHeight = 720;
    // The first second has the start of all encoders, which nothing here is about.
    constexpr int warmUp = 30;

    struct Options {
        std::string clips = "clips", way = "tiles", rateControl = "own", stream;
        int grid = 3, kbps = 1500, complexity = 1, frames = 300, receivers = 3, refresh = 0;
        bool joins = true, merges = true, verifies = false, isHalved = false, isSliced = true, usesCABAC = false;
    };

    struct Result {
        // Processor seconds a second, and kbit/s.
        double encodeTime = 0, assemblyTime = 0, decodeTime = 0, rate = 0, headerRate = 0;
        double squaredError = 0, worstSSIM = 1;
        Similarity ssim;
        long measured = 0, compared = 0, different = 0, comparedOpenH264 = 0, differentOpenH264 = 0, dirtyRims = 0;
        int reach = 0;
        double slicesPerPicture = 0;
    };

    class Study {
    public:
        explicit Study(const Options &options) : options(options) {
            grid.columns = options.grid;
            contentWidth = grid.tileWidth() * 16 - 2 * margin;
            contentHeight = grid.tileHeight() * 16 - 2 * margin;
            for (int i = 0; i < grid.cells(); i++) {
                const std::string path = options.clips + "/" + std::to_string(options.grid) + "-" + std::to_string(i);
                clips.push_back(readClip(path + ".yuv", contentWidth, contentHeight, options.frames));
            }
            for (int i = 0; i < options.receivers; i++) {
                const int last = grid.cells() - 1;
                receivers.push_back(options.receivers == 1 ? 0 : i * last / (options.receivers - 1));
            }
        }

        Result run() { return options.way == "whole" ? runWhole() : options.way == "alone" ? runAlone() : runTiles(); }

    private:
        // The source in a cell of a receiver's picture, -1 for none: nobody sees themselves.
        int source(int receiver, int cell) const {
            const int source = cell < receiver ? cell : cell + 1;
            return source < grid.cells() ? source : -1;
        }

        int x(int cell) const { return cell % grid.columns * grid.tileWidth() * 16; }
        int y(int cell) const { return cell / grid.columns * grid.tileHeight() * 16; }

        Picture canvas(int receiver, int frame) const {
            Picture picture(canvasWidth, canvasHeight);
            for (int cell = 0; cell < grid.cells(); cell++) {
                const int index = source(receiver, cell);
                if (index < 0) continue;
                place(clips[size_t(index)][size_t(frame)], picture, x(cell) + margin, y(cell) + margin);
            }
            return picture;
        }

        void measure(const Picture &decoded, const Picture &original, Result &result) const {
            result.squaredError += squaredError(decoded, original);
            const Similarity frame = similarity(decoded, original);
            result.ssim.sum += frame.sum;
            result.ssim.windows += frame.windows;
            result.worstSSIM = std::min(result.worstSSIM, frame.sum / double(frame.windows));
            result.measured++;
        }

        Result runWhole() const;
        Result runTiles() const;
        Result runAlone() const;

        Options options;
        Grid grid;
        int contentWidth, contentHeight;
        std::vector<std::vector<Picture>> clips;
        std::vector<int> receivers;
    };

    Result Study::runWhole() const {
        Result result;
        double bytes = 0;
        for (int receiver : receivers) {
            const bool isShared = options.rateControl == "common";
            const int divisor = options.isHalved ? 2 : 1;
            Picture decoded(canvasWidth / divisor, canvasHeight / divisor);
            Encoder encoder({.width = decoded.width, .height = decoded.height,
                             .rate = isShared ? 0 : options.kbps * 1000, .complexity = options.complexity,
                             .usesCABAC = options.usesCABAC, .hasLongTermReferences = true});
            Decoder decoder;
            SharedQP qp(options.kbps * 1000.0 / 30);
            for (int frame = 0; frame < options.frames; frame++) {
                const Picture original = canvas(receiver, frame);
                const Picture shown = options.isHalved ? halved(original) : original;
                if (isShared) encoder.setQP(qp.next());
                const double start = processorTime();
                const std::vector<Bytes> units = encoder.encode(shown);
                const double time = processorTime() - start;
                double size = 0;
                for (const Bytes &unit : units) size += double(unit.size()) + 2;
                qp.spent(size * 8);
                if (!decoder.decode(withStartCodes(units), decoded)) throw std::runtime_error("not decoded");
                if (frame < warmUp) continue;
                result.encodeTime += time;
                bytes += size;
                measure(options.isHalved ? doubled(decoded) : decoded, original, result);
            }
        }
        const double seconds = (options.frames - warmUp) / 30.0;
        result.encodeTime *= double(grid.cells()) / double(receivers.size()) / seconds;
        result.rate = bytes * 8 / 1000 / seconds / double(receivers.size());
        return result;
    }

    // A source: its encoder, and its stream decoded alone.
    struct Source {
        Source(const EncoderSettings &settings, bool measuresReach)
            : encoder(settings), decoder(measuresReach), picture(settings.width, settings.height),
              alone(settings.width, settings.height) {}

        Encoder encoder;
        Decoder decoder;
        ParameterSets sets;
        TileFrame slices;
        Picture picture, alone;

        void read(const std::vector<Bytes> &units, int macroblocksPerRow) {
            slices.clear();
            for (const Bytes &unit : units) {
                const int type = unit[0] & 31;
                if (type == 7) sets.readSPS(rawPayload(unit.data(), unit.size()));
                if (type == 8) sets.readPPS(rawPayload(unit.data(), unit.size()));
                if (type == 1 || type == 5) {
                    slices.push_back(readSlice(unit.data(), unit.size(), sets, macroblocksPerRow));
                }
            }
        }
    };

    struct Receiver {
        Receiver(int index, const Grid &grid, Joins joins) : index(index), assembler(grid, joins) {}

        int index;
        Assembler assembler;
        Decoder decoder;
        OpenH264Decoder second;
        Bytes stream;
    };

    // The picture's size, its NAL units, and the decoded samples, for chromium.py.
    void write(const Bytes &stream, const Picture &decoded, FILE *file) {
        const uint32_t size = uint32_t(stream.size());
        fwrite(&size, sizeof size, 1, file);
        fwrite(stream.data(), 1, stream.size(), file);
        fwrite(decoded.samples.data(), 1, decoded.samples.size(), file);
    }

    Result Study::runTiles() const {
        Result result;
        const bool isShared = options.rateControl == "common";
        const int tileRate = isShared ? 0 : options.kbps * 1000 / (grid.cells() - 1);
        std::vector<std::unique_ptr<Source>> sources;
        for (int i = 0; i < grid.cells(); i++) {
            const EncoderSettings settings = {
                .width = grid.tileWidth() * 16, .height = grid.tileHeight() * 16, .rate = tileRate,
                .complexity = options.complexity, .slicesAreRows = true};
            sources.push_back(std::make_unique<Source>(settings, options.verifies));
        }
        std::vector<std::unique_ptr<Receiver>> all;
        const bool merges = isShared && options.merges;
        const Joins joins = !options.joins ? Joins::none : merges ? Joins::rows : Joins::skippedRows;
        for (int i = 0; i < grid.cells(); i++) all.push_back(std::make_unique<Receiver>(i, grid, joins));
        SharedQP qp(options.kbps * 1000.0 / 30);
        double bytes = 0;
        Picture decoded(canvasWidth, canvasHeight), decodedAgain(canvasWidth, canvasHeight);
        const auto close = [](FILE *file) { fclose(file); };
        std::unique_ptr<FILE, decltype(close)> dump(nullptr, close);
        if (!options.stream.empty()) dump.reset(fopen(options.stream.c_str(), "wb"));

        // Frame -1 is the flat grey keyframe that all begin with.
        for (int frame = -1; frame < options.frames; frame++) {
            const bool counts = frame >= warmUp;
            const int nextQP = qp.next();
            double pictureBytes = 0;
            for (size_t i = 0; i < sources.size(); i++) {
                Source &source = *sources[i];
                const bool isGrey = frame < 0 || (options.refresh > 0 && i == 0 && frame % options.refresh == 0);
                // The gutter is shown to the encoder as it stands in its own reference, with what the loop filter did
                // to its inner samples. So it always skips it, and the outer samples stay flat.
                source.picture = source.alone;
                if (isGrey) std::fill(source.picture.samples.begin(), source.picture.samples.end(), uint8_t(128));
                else place(clips[i][size_t(frame)], source.picture, margin, margin);
                if (isGrey && frame >= 0) source.encoder.forceKeyframe();
                if (isShared) source.encoder.setQP(nextQP);
                const double start = processorTime();
                const std::vector<Bytes> units = source.encoder.encode(source.picture);
                const double encoded = processorTime();
                source.read(units, grid.tileWidth());
                const double read = processorTime();
                if (source.slices.size() != size_t(grid.tileHeight())) throw std::runtime_error("not a slice per row");
                const bool isDecoded = source.decoder.decode(withStartCodes(units), source.alone);
                if (!isDecoded) throw std::runtime_error("a tile is not decoded");
                const double end = processorTime();
                if (counts) result.encodeTime += encoded - start;
                if (counts) result.assemblyTime += read - encoded;
                if (counts) result.decodeTime += end - read;
                result.dirtyRims += !hasFlatRim(source.alone, margin - 3, 128);
                result.reach = std::max(result.reach, source.decoder.reach);
            }
            for (const auto &entry : all) {
                Receiver &receiver = *entry;
                std::vector<const TileFrame *> tiles;
                for (int cell = 0; cell < grid.cells(); cell++) {
                    const int index = source(receiver.index, cell);
                    tiles.push_back(index < 0 ? nullptr : &sources[size_t(index)]->slices);
                }
                receiver.stream.clear();
                const double start = processorTime();
                const size_t size = frame < 0 ? receiver.assembler.appendKeyframe(receiver.stream)
                                              : receiver.assembler.appendPicture(tiles, receiver.stream);
                if (counts) result.assemblyTime += processorTime() - start;
                pictureBytes += double(size);
                const auto found = std::find(receivers.begin(), receivers.end(), receiver.index);
                const bool isMeasured = found != receivers.end();
                if (!isMeasured && !options.verifies) continue;
                if (!receiver.decoder.decode(receiver.stream, decoded)) throw std::runtime_error("not decoded");
                if (dump && receiver.index == 0) write(receiver.stream, decoded, dump.get());
                bool isEqual = true;
                for (int cell = 0; cell < grid.cells(); cell++) {
                    if (!tiles[size_t(cell)]) continue;
                    isEqual &= isAt(sources[size_t(source(receiver.index, cell))]->alone, decoded, x(cell), y(cell));
                }
                result.compared++;
                result.different += !isEqual;
                if (options.verifies) {
                    const bool isDecoded = receiver.second.decode(receiver.stream, decodedAgain);
                    result.comparedOpenH264++;
                    result.differentOpenH264 += !isDecoded || decodedAgain.samples != decoded.samples;
                }
                if (counts && isMeasured) measure(decoded, canvas(receiver.index, frame), result);
            }
            if (frame >= 0) qp.spent(pictureBytes * 8 / double(all.size()));
            if (counts) bytes += pictureBytes;
        }
        const double seconds = (options.frames - warmUp) / 30.0;
        result.encodeTime /= seconds;
        result.assemblyTime /= seconds;
        result.decodeTime /= seconds;
        result.rate = bytes * 8 / 1000 / seconds / double(all.size());
        AssemblyCounts total;
        for (const auto &receiver : all) {
            total.slices += receiver->assembler.counts.slices;
            total.pictures += receiver->assembler.counts.pictures;
            total.headerBits += receiver->assembler.counts.headerBits;
        }
        result.slicesPerPicture = double(total.slices) / double(total.pictures);
        result.headerRate = double(total.headerBits) / double(total.pictures) * 30 / 1000;
        return result;
    }

    // The cost of tiles that are not put together: it tells the price of rows as slices, and the worth of CABAC.
    Result Study::runAlone() const {
        Result result;
        std::vector<std::unique_ptr<Source>> sources;
        for (int i = 0; i < grid.cells(); i++) {
            const EncoderSettings settings = {
                .width = grid.tileWidth() * 16, .height = grid.tileHeight() * 16, .complexity = options.complexity,
                .slicesAreRows = options.isSliced, .usesCABAC = options.usesCABAC};
            sources.push_back(std::make_unique<Source>(settings, false));
        }
        SharedQP qp(options.kbps * 1000.0 / 30);
        const double shown = double(grid.cells() - 1) / grid.cells(), seconds = (options.frames - warmUp) / 30.0;
        for (int frame = -1; frame < options.frames; frame++) {
            double size = 0;
            const int nextQP = qp.next();
            for (size_t i = 0; i < sources.size(); i++) {
                Source &source = *sources[i];
                source.picture = source.alone;
                if (frame >= 0) place(clips[i][size_t(frame)], source.picture, margin, margin);
                source.encoder.setQP(nextQP);
                const double start = processorTime();
                const std::vector<Bytes> units = source.encoder.encode(source.picture);
                if (frame >= warmUp) result.encodeTime += (processorTime() - start) / seconds;
                for (const Bytes &unit : units) size += (double(unit.size()) + 2) * shown;
                const bool isDecoded = source.decoder.decode(withStartCodes(units), source.alone);
                if (!isDecoded) throw std::runtime_error("a tile is not decoded");
            }
            if (frame >= 0) qp.spent(size * 8);
            if (frame < warmUp) continue;
            result.rate += size * 8 / 1000 / seconds;
            for (int receiver : receivers) {
                Picture picture(canvasWidth, canvasHeight);
                for (int cell = 0; cell < grid.cells(); cell++) {
                    const int index = source(receiver, cell);
                    if (index >= 0) place(sources[size_t(index)]->alone, picture, x(cell), y(cell));
                }
                measure(picture, canvas(receiver, frame), result);
            }
        }
        return result;
    }

    Options parse(int count, char **arguments) {
        Options options;
        for (int i = 1; i < count; i++) {
            const std::string name = arguments[i];
            if (name == "--no-joins") options.joins = false;
            else if (name == "--halved") options.isHalved = true;
            else if (name == "--unsliced") options.isSliced = false;
            else if (name == "--cabac") options.usesCABAC = true;
            else if (name == "--no-merges") options.merges = false;
            else if (name == "--verify") options.verifies = true;
            else if (i + 1 == count) throw std::runtime_error("a value is missing behind " + name);
            else if (name == "--clips") options.clips = arguments[++i];
            else if (name == "--way") options.way = arguments[++i];
            else if (name == "--stream") options.stream = arguments[++i];
            else if (name == "--rate-control") options.rateControl = arguments[++i];
            else if (name == "--grid") options.grid = atoi(arguments[++i]);
            else if (name == "--kbps") options.kbps = atoi(arguments[++i]);
            else if (name == "--complexity") options.complexity = atoi(arguments[++i]);
            else if (name == "--frames") options.frames = atoi(arguments[++i]);
            else if (name == "--receivers") options.receivers = atoi(arguments[++i]);
            else if (name == "--refresh") options.refresh = atoi(arguments[++i]);
            else throw std::runtime_error("unknown option " + name);
        }
        return options;
    }
}

int main(int count, char **arguments) {
    try {
        const Options o = parse(count, arguments);
        const Result r = Study(o).run();
        const double error = r.squaredError / double(r.measured) / (canvasWidth * canvasHeight);
        printf("{\"way\": \"%s\", \"rateControl\": \"%s\", \"pictures\": %d, \"target\": %d, \"complexity\": %d, "
               "\"joins\": %s, \"refresh\": %d, \"kbps\": %.1f, \"cores\": %.4f, "
               "\"assemblyCores\": %.4f, \"decodeCores\": %.4f, "
               "\"psnr\": %.3f, \"ssim\": %.5f, \"worstSSIM\": %.4f, "
               "\"slices\": %.1f, \"headerKbps\": %.1f, "
               "\"compared\": %ld, \"different\": %ld, \"comparedOpenH264\": %ld, \"differentOpenH264\": %ld, "
               "\"dirtyRims\": %ld, \"reach\": %d}\n",
               o.way.c_str(), o.rateControl.c_str(), o.grid * o.grid, o.kbps, o.complexity, o.joins ? "true" : "false",
               o.refresh, r.rate, r.encodeTime + r.assemblyTime + r.decodeTime,
               r.assemblyTime, r.decodeTime, 10 * std::log10(255 * 255 / error),
               r.ssim.sum / double(r.ssim.windows), r.worstSSIM, r.slicesPerPicture,
               r.headerRate, r.compared, r.different, r.comparedOpenH264, r.differentOpenH264, r.dirtyRims, r.reach);
    } catch (const std::exception &error) {
        fprintf(stderr, "stitching: %s\n", error.what());
        return 1;
    }
    return 0;
}
