// OpenH264 with the relay's settings, and the two decoders that check its streams.
#pragma once
#include <optional>

#include <wels/codec_api.h>
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/motion_vector.h>
}

#include "bits.h"
#include "picture.h"

struct EncoderSettings {
    int width = 0, height = 0;
    // Bits a second; 0 for a QP that the caller sets for each picture.
    int rate = 0;
    // 0, 1, 2: OpenH264's low, medium and high.
    int complexity = 1;
    // A slice for each macroblock row, as tiles need.
    bool slicesAreRows = false;
    // The relay's choice where the receiver's profile allows it.
    bool usesCABAC = false;
    // The relay's encoders of one receiver keep them for repair. Tiles have nobody's loss to repair alone.
    bool hasLongTermReferences = false;
};

class Encoder {
public:
    explicit Encoder(const EncoderSettings &settings);
    ~Encoder();
    Encoder(const Encoder &) = delete;

    // The NAL units of a picture, without start codes.
    std::vector<Bytes> encode(const Picture &picture);
    void setQP(int qp);
    void forceKeyframe() { encoder->ForceIntraFrame(true); }

private:
    ISVCEncoder *encoder = nullptr;
    SEncParamExt parameters = {};
    int qp = -1;
    int64_t time = 0;
};

class Decoder {
public:
    explicit Decoder(bool measuresReach = false);
    ~Decoder();
    Decoder(const Decoder &) = delete;

    // Decodes one picture's NAL units, which have start codes.
    bool decode(const Bytes &stream, Picture &picture);

    // The farthest, in samples, that a motion vector ever read beyond the picture's edge, filter taps included.
    int reach = 0;

private:
    void measureReach(int width, int height);

    AVCodecContext *context;
    AVPacket *packet;
    AVFrame *frame;
};

class OpenH264Decoder {
public:
    OpenH264Decoder();
    ~OpenH264Decoder();
    OpenH264Decoder(const OpenH264Decoder &) = delete;

    bool decode(const Bytes &stream, Picture &picture);

private:
    ISVCDecoder *decoder = nullptr;
};

Bytes withStartCodes(const std::vector<Bytes> &units);

// The processor time of this thread in seconds.
double processorTime();
