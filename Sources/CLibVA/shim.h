#pragma once
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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

// Swift does not see the arrays of a descriptor.

// Makes one layer of an exported NV12 surface's two, as drivers take it back; 0 where it is no such surface.
static inline int va_shim_join_layers(VADRMPRIMESurfaceDescriptor *descriptor) {
    if (descriptor->fourcc != VA_FOURCC_NV12 || descriptor->num_objects < 1 || descriptor->num_objects > 4) return 0;
    if (descriptor->num_layers == 2) {
        descriptor->layers[0].drm_format = VA_FOURCC_NV12;
        descriptor->layers[0].num_planes = 2;
        descriptor->layers[0].object_index[1] = descriptor->layers[1].object_index[0];
        descriptor->layers[0].offset[1] = descriptor->layers[1].offset[0];
        descriptor->layers[0].pitch[1] = descriptor->layers[1].pitch[0];
        descriptor->num_layers = 1;
    }
    return descriptor->num_layers == 1 && descriptor->layers[0].num_planes == 2;
}

static inline void va_shim_close_objects(const VADRMPRIMESurfaceDescriptor *descriptor) {
    for (uint32_t index = 0; index < descriptor->num_objects && index < 4; index++) {
        close(descriptor->objects[index].fd);
    }
}
