#include "codecs.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <stdexcept>

namespace {
    void require(bool condition, const char *what) {
        if (!condition) throw std::runtime_error(what);
    }

    bool copy(const uint8_t *const *planes, const int *strides, int width, int height, Picture &picture) {
        if (width != picture.width || height != picture.height) return false;
        for (int i = 0; i < 3; i++) {
            for (int y = 0; y < picture.rows(i); y++) {
                const uint8_t *line = planes[i] + y * strides[i];
                memcpy(picture.plane(i) + y * picture.stride(i), line, size_t(picture.stride(i)));
            }
        }
        return true;
    }
}

// The values are those of OpenH264Library+Parameters.swift.
Encoder::Encoder(const EncoderSettings &settings) {
    require(WelsCreateSVCEncoder(&encoder) == 0, "no encoder");
    encoder->GetDefaultParams(&parameters);
    parameters.iUsageType = CAMERA_VIDEO_REAL_TIME;
    parameters.iPicWidth = settings.width;
    parameters.iPicHeight = settings.height;
    parameters.iTargetBitrate = settings.rate > 0 ? settings.rate : 1'000'000;
    parameters.iMaxBitrate = UNSPECIFIED_BIT_RATE;
    parameters.fMaxFrameRate = 30;
    parameters.iSpatialLayerNum = 1;
    parameters.iTemporalLayerNum = 1;
    parameters.iComplexityMode = ECOMPLEXITY_MODE(settings.complexity);
    parameters.uiIntraPeriod = 0;
    parameters.eSpsPpsIdStrategy = CONSTANT_ID;
    parameters.bPrefixNalAddingCtrl = false;
    parameters.bEnableSSEI = false;
    parameters.iEntropyCodingModeFlag = settings.usesCABAC;
    parameters.iMultipleThreadIdc = 1;
    parameters.bEnableDenoise = false;
    parameters.bEnableBackgroundDetection = false;
    parameters.bEnableFrameCroppingFlag = true;
    parameters.bEnableSceneChangeDetect = false;
    parameters.iRCMode = settings.rate > 0 ? RC_BITRATE_MODE : RC_OFF_MODE;
    parameters.bEnableFrameSkip = false;
    parameters.iMinQp = 10;
    parameters.iMaxQp = 51;
    parameters.bFixRCOverShoot = false;
    parameters.bEnableLongTermReference = settings.hasLongTermReferences;
    parameters.iLTRRefNum = settings.hasLongTermReferences ? 2 : 0;
    parameters.iLtrMarkPeriod = 15;
    parameters.iNumRefFrame = settings.hasLongTermReferences ? AUTO_REF_PIC_COUNT : 1;
    SSpatialLayerConfig &layer = parameters.sSpatialLayers[0];
    layer.iVideoWidth = settings.width;
    layer.iVideoHeight = settings.height;
    layer.fFrameRate = 30;
    layer.iSpatialBitrate = parameters.iTargetBitrate;
    layer.iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE;
    layer.uiProfileIdc = settings.usesCABAC ? PRO_HIGH : PRO_BASELINE;
    layer.iDLayerQp = 30;
    if (settings.slicesAreRows) {
        layer.sSliceArgument.uiSliceMode = SM_RASTER_SLICE;
        const int rows = settings.height / 16;
        require(rows <= MAX_SLICES_NUM_TMP, "too many rows for OpenH264's slices");
        for (int i = 0; i < rows; i++) layer.sSliceArgument.uiSliceMbNum[i] = unsigned(settings.width / 16);
    } else {
        layer.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
    }
    int level = WELS_LOG_QUIET;
    encoder->SetOption(ENCODER_OPTION_TRACE_LEVEL, &level);
    require(encoder->InitializeExt(&parameters) == 0, "OpenH264 refuses the settings");
}

Encoder::~Encoder() {
    encoder->Uninitialize();
    WelsDestroySVCEncoder(encoder);
}

void Encoder::setQP(int wanted) {
    if (wanted == qp) return;
    encoder->GetOption(ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, &parameters);
    parameters.sSpatialLayers[0].iDLayerQp = wanted;
    require(encoder->SetOption(ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, &parameters) == 0, "no such QP");
    qp = wanted;
}

std::vector<Bytes> Encoder::encode(const Picture &picture) {
    SSourcePicture source = {};
    source.iColorFormat = videoFormatI420;
    source.iPicWidth = picture.width;
    source.iPicHeight = picture.height;
    for (int i = 0; i < 3; i++) {
        source.iStride[i] = picture.stride(i);
        source.pData[i] = const_cast<uint8_t *>(picture.plane(i));
    }
    source.uiTimeStamp = (time++) * 1000 / 30;
    SFrameBSInfo output = {};
    require(encoder->EncodeFrame(&source, &output) == 0, "OpenH264 did not encode");
    std::vector<Bytes> units;
    for (int i = 0; i < output.iLayerNum; i++) {
        const SLayerBSInfo &layer = output.sLayerInfo[i];
        const uint8_t *at = layer.pBsBuf;
        for (int j = 0; j < layer.iNalCount; j++) {
            units.emplace_back(at + 4, at + layer.pNalLengthInByte[j]);
            at += layer.pNalLengthInByte[j];
        }
    }
    return units;
}

Decoder::Decoder(bool measuresReach) {
    av_log_set_level(AV_LOG_ERROR);
    context = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_H264));
    context->thread_count = 1;
    context->flags |= AV_CODEC_FLAG_LOW_DELAY;
    if (measuresReach) context->export_side_data = AV_CODEC_EXPORT_DATA_MVS;
    context->err_recognition = AV_EF_EXPLODE;
    require(avcodec_open2(context, nullptr, nullptr) == 0, "no decoder");
    packet = av_packet_alloc();
    frame = av_frame_alloc();
}

Decoder::~Decoder() {
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&context);
}

bool Decoder::decode(const Bytes &stream, Picture &picture) {
    Bytes padded = stream;
    padded.resize(stream.size() + AV_INPUT_BUFFER_PADDING_SIZE);
    packet->data = padded.data();
    packet->size = int(stream.size());
    if (avcodec_send_packet(context, packet) != 0 || avcodec_receive_frame(context, frame) != 0) return false;
    measureReach(frame->width, frame->height);
    return copy(frame->data, frame->linesize, frame->width, frame->height, picture);
}

void Decoder::measureReach(int width, int height) {
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    if (!data) return;
    const auto *vectors = reinterpret_cast<const AVMotionVector *>(data->data);
    // The samples that a block of a size reads outside of 0..<limit with a vector in quarters of a sample.
    const auto beyond = [](int centre, int size, int vector, int limit) {
        const int first = centre - size / 2 + (vector >> 2), taps = vector & 3 ? 1 : 0;
        return std::max(-(first - 2 * taps), first + size + 3 * taps - limit);
    };
    for (size_t i = 0; i < data->size / sizeof(AVMotionVector); i++) {
        const AVMotionVector &v = vectors[i];
        reach = std::max(reach, beyond(v.dst_x, v.w, v.motion_x, width));
        reach = std::max(reach, beyond(v.dst_y, v.h, v.motion_y, height));
    }
}

OpenH264Decoder::OpenH264Decoder() {
    require(WelsCreateDecoder(&decoder) == 0, "no decoder");
    int level = WELS_LOG_QUIET;
    decoder->SetOption(DECODER_OPTION_TRACE_LEVEL, &level);
    SDecodingParam parameters = {};
    parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
    parameters.eEcActiveIdc = ERROR_CON_DISABLE;
    require(decoder->Initialize(&parameters) == 0, "no decoder");
}

OpenH264Decoder::~OpenH264Decoder() {
    decoder->Uninitialize();
    WelsDestroyDecoder(decoder);
}

bool OpenH264Decoder::decode(const Bytes &stream, Picture &picture) {
    uint8_t *planes[3] = {};
    SBufferInfo info = {};
    if (decoder->DecodeFrameNoDelay(stream.data(), int(stream.size()), planes, &info) != dsErrorFree) return false;
    if (info.iBufferStatus != 1) return false;
    const SSysMEMBuffer &buffer = info.UsrData.sSystemBuffer;
    const int strides[3] = {buffer.iStride[0], buffer.iStride[1], buffer.iStride[1]};
    return copy(planes, strides, buffer.iWidth, buffer.iHeight, picture);
}

Bytes withStartCodes(const std::vector<Bytes> &units) {
    Bytes stream;
    for (const Bytes &unit : units) {
        stream.insert(stream.end(), {0, 0, 0, 1});
        stream.insert(stream.end(), unit.begin(), unit.end());
    }
    return stream;
}

double processorTime() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}
