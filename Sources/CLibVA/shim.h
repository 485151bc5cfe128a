#pragma once
#include <stdlib.h>
#include <string.h>
#include <va/va.h>
#include <va/va_backend.h>
#include <va/va_drm.h>
#include <va/va_drmcommon.h>
#include <va/va_enc_h264.h>
#include <va/va_vpp.h>

// libva exports these for its window systems, without declaring them.
VADisplayContextP va_newDisplayContext(void);
VADriverContextP va_newDriverContext(VADisplayContextP context);

static int va_shim_is_valid(VADisplayContextP context) {
    return context != NULL && context->pDriverContext != NULL;
}

static void va_shim_destroy(VADisplayContextP context) {
    if (context == NULL) return;
    free(context->pDriverContext);
    free(context->opaque);
    free(context);
}

#if VA_CHECK_VERSION(1, 19, 0)
static VAStatus va_shim_driver_names(VADisplayContextP context, char **names, unsigned *count) {
    if (*count < 1) return VA_STATUS_ERROR_INVALID_PARAMETER;
    names[0] = strdup((const char *)context->opaque);
    *count = 1;
    return names[0] ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_ALLOCATION_FAILED;
}
#else
static VAStatus va_shim_driver_name(VADisplayContextP context, char **name) {
    *name = strdup((const char *)context->opaque);
    return *name ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_ALLOCATION_FAILED;
}
#endif

// A display of a driver that needs neither a device nor a window system; NULL where there is no memory.
static inline VADisplay va_shim_display_of_driver(const char *name) {
    VADisplayContextP context = va_newDisplayContext();
    if (context == NULL) return NULL;
    context->opaque = strdup(name);
    context->vaIsValid = va_shim_is_valid;
    context->vaDestroy = va_shim_destroy;
#if VA_CHECK_VERSION(1, 19, 0)
    context->vaGetDriverNames = va_shim_driver_names;
#else
    context->vaGetDriverName = va_shim_driver_name;
#endif
    if (context->opaque == NULL || va_newDriverContext(context) == NULL) {
        va_shim_destroy(context);
        return NULL;
    }
    return context;
}

// A misc parameter's type stands before it in one buffer.
typedef struct {
    VAEncMiscParameterType type;
    VAEncMiscParameterRateControl value;
} VAShimRateControl;
typedef struct {
    VAEncMiscParameterType type;
    VAEncMiscParameterFrameRate value;
} VAShimFrameRate;
typedef struct {
    VAEncMiscParameterType type;
    VAEncMiscParameterHRD value;
} VAShimHRD;
typedef struct {
    VAEncMiscParameterType type;
    VAEncMiscParameterBufferMaxFrameSize value;
} VAShimMaxFrameSize;
typedef struct {
    VAEncMiscParameterType type;
    VAEncMiscParameterTemporalLayerStructure value;
} VAShimTemporalLayerStructure;
