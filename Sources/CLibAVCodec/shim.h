#pragma once
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libavutil/opt.h>
#include <libavutil/log.h>
#include <libavutil/sha.h>
#include <libavutil/hwcontext.h>

// libavutil's device on a display of libva's; NULL where libavutil was built without VA-API.
static inline AVBufferRef *libav_shim_vaapi_device(void *display) {
    AVBufferRef *device = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VAAPI);
    if (device == NULL) return NULL;
    // The first field of AVVAAPIDeviceContext. Its header would bring libva's into this module.
    *(void **)((AVHWDeviceContext *)device->data)->hwctx = display;
    if (av_hwdevice_ctx_init(device) < 0) av_buffer_unref(&device);
    return device;
}

// Takes VA-API, or nothing: the caller has a decoder in software of its own.
static inline enum AVPixelFormat libav_shim_take_vaapi(
    struct AVCodecContext *context, const enum AVPixelFormat *formats) {
    (void)context;
    while (*formats != AV_PIX_FMT_NONE && *formats != AV_PIX_FMT_VAAPI) formats++;
    return *formats;
}
