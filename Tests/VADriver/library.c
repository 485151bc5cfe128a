// OpenH264: settings, rate, and one picture at a time.
#include "encode.h"
#ifdef HAS_LIBVA
#include <libyuv.h>

VAStatus open_library(Driver *driver, H264Encoder *encoder, const Config *config, const Parameters *p) {
    if (encoder->library) {
        (*encoder->library)->Uninitialize(encoder->library);
        WelsDestroySVCEncoder(encoder->library);
        encoder->library = NULL;
    }
    encoder->started = false;
    if (WelsCreateSVCEncoder(&encoder->library) || !encoder->library) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    SEncParamExt *s = &encoder->settings;
    (*encoder->library)->GetDefaultParams(encoder->library, s);
    int quiet = 0, format = videoFormatI420;
    (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_TRACE_LEVEL, &quiet);
    bool cabac = p->picture->pic_fields.bits.entropy_coding_mode_flag;
    s->iUsageType = CAMERA_VIDEO_REAL_TIME;
    s->iPicWidth = p->sequence->picture_width_in_mbs * 16;
    s->iPicHeight = p->sequence->picture_height_in_mbs * 16;
    s->iTargetBitrate = encoder->bit_rate;
    s->fMaxFrameRate = encoder->frame_rate;
    s->iMaxBitrate = UNSPECIFIED_BIT_RATE;
    s->iRCMode = config->rate_control == VA_RC_CQP ? RC_OFF_MODE : RC_BITRATE_MODE;
    s->iSpatialLayerNum = 1;
    s->iTemporalLayerNum = encoder->layers;
    s->iNumRefFrame = AUTO_REF_PIC_COUNT;
    s->iComplexityMode = LOW_COMPLEXITY;
    s->uiIntraPeriod = 0;
    s->eSpsPpsIdStrategy = CONSTANT_ID;
    s->bPrefixNalAddingCtrl = false;
    s->bEnableSSEI = false;
    s->iEntropyCodingModeFlag = cabac;
    s->iMultipleThreadIdc = 1;
    s->bEnableDenoise = false;
    s->bEnableBackgroundDetection = false;
    s->bEnableSceneChangeDetect = false;
    s->bEnableFrameSkip = false;
    s->bFixRCOverShoot = false;
    s->iMinQp = 10;
    s->iMaxQp = 51;
    s->iLoopFilterDisableIdc = 0;
    SSpatialLayerConfig *layer = &s->sSpatialLayers[0];
    layer->iVideoWidth = s->iPicWidth;
    layer->iVideoHeight = s->iPicHeight;
    layer->fFrameRate = s->fMaxFrameRate;
    layer->iSpatialBitrate = s->iTargetBitrate;
    layer->iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE;
    layer->uiProfileIdc = cabac ? PRO_MAIN : PRO_BASELINE;
    layer->uiLevelIdc = LEVEL_5_2;
    layer->iDLayerQp = encoder->qp = 30;
    layer->sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
    if ((*encoder->library)->InitializeExt(encoder->library, s))
        return refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "OpenH264 does not take the settings");
    (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_DATAFORMAT, &format);
    return VA_STATUS_SUCCESS;
}

void set_rate(H264Encoder *encoder, int bit_rate, float frame_rate) {
    if (encoder->library && frame_rate != encoder->frame_rate)
        (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_FRAME_RATE, &frame_rate);
    if (encoder->library && bit_rate != encoder->bit_rate) {
        SBitrateInfo rate = {SPATIAL_LAYER_ALL, bit_rate};
        (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_BITRATE, &rate);
    }
    encoder->bit_rate = bit_rate;
    encoder->frame_rate = frame_rate;
}

// Encodes the next picture with a constant QP where there is one.
static void pin_qp(H264Encoder *encoder, int qp) {
    if (qp == encoder->qp) return;
    SEncParamExt settings;
    (*encoder->library)->GetOption(encoder->library, ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, &settings);
    settings.sSpatialLayers[0].iDLayerQp = encoder->qp = qp;
    (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, &settings);
}

VAStatus run_library(
    Driver *driver, H264Encoder *encoder, const Context *context, const Config *config, const Submission *submission,
    SFrameBSInfo *info) {
    const Parameters *p = &submission->parameters;
    const Surface *surface = find_surface(driver, context->target);
    int width = p->sequence->picture_width_in_mbs * 16, height = p->sequence->picture_height_in_mbs * 16;
    if (!surface || surface->fourcc != VA_FOURCC_NV12 || surface->stride < width
        || (surface->height + 15) / 16 * 16 < height)
        return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "the surface is smaller than the picture");
    int rows = (surface->height + 15) / 16 * 16;
    uint8_t *luma = encoder->planes, *blue = luma + width * height, *red = blue + width * height / 4;
    NV12ToI420(surface->samples, surface->stride, surface->samples + (size_t)surface->stride * rows, surface->stride,
               luma, width, blue, width / 2, red, width / 2, width, height);
    const VAEncMiscParameterRateControl *rate = submission->rate;
    int qp = -1, usual = config->rate_control == VA_RC_CQP ? RC_OFF_MODE : RC_BITRATE_MODE, off = RC_OFF_MODE;
    if (config->rate_control == VA_RC_CQP) qp = p->picture->pic_init_qp + p->slice->slice_qp_delta;
    else if (rate && rate->min_qp && rate->min_qp == rate->max_qp) qp = (int)rate->min_qp;
    if (qp > 51 || qp < -1) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "QP %d", qp);
    if (qp >= 0) pin_qp(encoder, qp);
    if (p->picture->pic_fields.bits.idr_pic_flag && encoder->started)
        (*encoder->library)->ForceIntraFrame(encoder->library, true);
    SSourcePicture source = {
        .iColorFormat = videoFormatI420, .iStride = {width, width / 2, width / 2}, .pData = {luma, blue, red},
        .iPicWidth = width, .iPicHeight = height};
    if (qp >= 0 && usual != off) (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_RC_MODE, &off);
    int result = (*encoder->library)->EncodeFrame(encoder->library, &source, info);
    if (qp >= 0 && usual != off) (*encoder->library)->SetOption(encoder->library, ENCODER_OPTION_RC_MODE, &usual);
    if (result || info->eFrameType == videoFrameTypeSkip || info->eFrameType == videoFrameTypeInvalid)
        return refuse(driver, VA_STATUS_ERROR_ENCODING_ERROR, "OpenH264 made no frame (%d)", result);
    encoder->started = true;
    return VA_STATUS_SUCCESS;
}
#endif
