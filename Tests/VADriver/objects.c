#include "decode.h"
#ifdef HAS_LIBVA
#include <stdlib.h>
#include <string.h>

// MARK: Finding

Config *find_config(Driver *driver, VAConfigID id) {
    unsigned index = id - CONFIG_BASE;
    return index < MAXIMUM_CONFIGS && driver->configs[index].used ? &driver->configs[index] : NULL;
}

Context *find_context(Driver *driver, VAContextID id) {
    unsigned index = id - CONTEXT_BASE;
    return index < MAXIMUM_CONTEXTS && driver->contexts[index].used ? &driver->contexts[index] : NULL;
}

Buffer *find_buffer(Driver *driver, VABufferID id) {
    unsigned index = id - BUFFER_BASE;
    return index < MAXIMUM_BUFFERS && driver->buffers[index].used ? &driver->buffers[index] : NULL;
}

int count_used_contexts(const Driver *driver) {
    int count = 0;
    for (int i = 0; i < MAXIMUM_CONTEXTS; i++) count += driver->contexts[i].used;
    return count;
}

// MARK: Configurations

static const VAProfile profiles[] = {
    VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High,
};
enum { PROFILE_COUNT = sizeof profiles / sizeof profiles[0] };

static bool has_profile(const Driver *driver, VAProfile profile) {
    if (profile == VAProfileNone) return driver->processes;
    for (int i = 0; i < PROFILE_COUNT; i++) {
        if (profiles[i] == profile) return true;
    }
    return false;
}

static VAStatus query_profiles(VADriverContextP ctx, VAProfile *list, int *count) {
    ENTER("vaQueryConfigProfiles");
    memcpy(list, profiles, sizeof profiles);
    *count = PROFILE_COUNT;
    if (driver->processes) list[(*count)++] = VAProfileNone;
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus query_entrypoints(VADriverContextP ctx, VAProfile profile, VAEntrypoint *list, int *count) {
    ENTER("vaQueryConfigEntrypoints");
    if (!has_profile(driver, profile)) LEAVE(VA_STATUS_ERROR_UNSUPPORTED_PROFILE);
    *count = 0;
    if (profile == VAProfileNone) {
        list[(*count)++] = VAEntrypointVideoProc;
        LEAVE(VA_STATUS_SUCCESS);
    }
    list[(*count)++] = driver->entrypoint;
#ifdef HAS_DECODER
    list[(*count)++] = VAEntrypointVLD;
#endif
    LEAVE(VA_STATUS_SUCCESS);
}

static bool has_entrypoint(const Driver *driver, VAProfile profile, VAEntrypoint entrypoint) {
    if (profile == VAProfileNone) return entrypoint == VAEntrypointVideoProc;
#ifdef HAS_DECODER
    if (entrypoint == VAEntrypointVLD) return true;
#endif
    return entrypoint == driver->entrypoint;
}

static uint32_t attribute_value(const Driver *driver, VAEntrypoint entrypoint, VAConfigAttribType type) {
    if (entrypoint == VAEntrypointVLD) {
        switch (type) {
        case VAConfigAttribRTFormat: return VA_RT_FORMAT_YUV420;
        case VAConfigAttribDecSliceMode: return VA_DEC_SLICE_MODE_NORMAL;
        case VAConfigAttribMaxPictureWidth: return (uint32_t)driver->maximum_width;
        case VAConfigAttribMaxPictureHeight: return (uint32_t)driver->maximum_height;
        default: return VA_ATTRIB_NOT_SUPPORTED;
        }
    }
    if (entrypoint == VAEntrypointVideoProc)
        return type == VAConfigAttribRTFormat ? VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_RGB32 : VA_ATTRIB_NOT_SUPPORTED;
    switch (type) {
    case VAConfigAttribRTFormat: return VA_RT_FORMAT_YUV420;
    case VAConfigAttribRateControl: return driver->rate_control;
    case VAConfigAttribEncPackedHeaders:
        return driver->packed_headers ? driver->packed_headers : VA_ATTRIB_NOT_SUPPORTED;
    // One reference in each P picture, no B pictures.
    case VAConfigAttribEncMaxRefFrames: return 1;
    case VAConfigAttribEncMaxSlices: return 1;
    case VAConfigAttribMaxPictureWidth: return (uint32_t)driver->maximum_width;
    case VAConfigAttribMaxPictureHeight: return (uint32_t)driver->maximum_height;
    case VAConfigAttribEncRateControlExt:
        return driver->layers > 1 ? (uint32_t)driver->layers - 1 : VA_ATTRIB_NOT_SUPPORTED;
    case VAConfigAttribFrameSizeToleranceSupport: return 1;
    default: return VA_ATTRIB_NOT_SUPPORTED;
    }
}

static VAStatus get_attributes(
    VADriverContextP ctx, VAProfile profile, VAEntrypoint entrypoint, VAConfigAttrib *list, int count) {
    ENTER("vaGetConfigAttributes");
    if (!has_profile(driver, profile)) LEAVE(VA_STATUS_ERROR_UNSUPPORTED_PROFILE);
    if (!has_entrypoint(driver, profile, entrypoint)) LEAVE(VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT);
    for (int i = 0; i < count; i++) list[i].value = attribute_value(driver, entrypoint, list[i].type);
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus create_config(
    VADriverContextP ctx, VAProfile profile, VAEntrypoint entrypoint, VAConfigAttrib *list, int count, VAConfigID *id) {
    ENTER("vaCreateConfig");
    if (!has_profile(driver, profile))
        LEAVE(refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_PROFILE, "profile %d", profile));
    if (!has_entrypoint(driver, profile, entrypoint))
        LEAVE(refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT, "entry point %d", entrypoint));
    Config config = {.used = true, .profile = profile, .entrypoint = entrypoint, .rate_control = VA_RC_CQP};
    for (int i = 0; i < count; i++) {
        uint32_t value = list[i].value, known = attribute_value(driver, entrypoint, list[i].type);
        if (list[i].type == VAConfigAttribRTFormat || list[i].type == VAConfigAttribEncPackedHeaders) {
            if (known == VA_ATTRIB_NOT_SUPPORTED || (value & ~known))
                LEAVE(refuse(driver, VA_STATUS_ERROR_ATTR_NOT_SUPPORTED, "attribute %d: 0x%x", list[i].type, value));
            if (list[i].type == VAConfigAttribEncPackedHeaders) config.packed_headers = value;
        } else if (list[i].type == VAConfigAttribRateControl) {
            if (!value || (value & (value - 1)) || !(value & known))
                LEAVE(refuse(driver, VA_STATUS_ERROR_ATTR_NOT_SUPPORTED, "rate control 0x%x", value));
            config.rate_control = value;
        } else if (known == VA_ATTRIB_NOT_SUPPORTED) {
            LEAVE(refuse(driver, VA_STATUS_ERROR_ATTR_NOT_SUPPORTED, "attribute %d", list[i].type));
        }
    }
    for (int i = 0; i < MAXIMUM_CONFIGS; i++) {
        if (driver->configs[i].used) continue;
        driver->configs[i] = config;
        *id = (VAConfigID)(CONFIG_BASE + i);
        log_line(driver, "config rate=0x%x packed=0x%x", config.rate_control, config.packed_headers);
        LEAVE(VA_STATUS_SUCCESS);
    }
    LEAVE(VA_STATUS_ERROR_MAX_NUM_EXCEEDED);
}

static VAStatus destroy_config(VADriverContextP ctx, VAConfigID id) {
    ENTER("vaDestroyConfig");
    Config *config = find_config(driver, id);
    if (!config) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONFIG, "no config 0x%x", id));
    config->used = false;
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus query_config(
    VADriverContextP ctx, VAConfigID id, VAProfile *profile, VAEntrypoint *entrypoint, VAConfigAttrib *list,
    int *count) {
    ENTER("vaQueryConfigAttributes");
    Config *config = find_config(driver, id);
    if (!config) LEAVE(VA_STATUS_ERROR_INVALID_CONFIG);
    *profile = config->profile;
    *entrypoint = config->entrypoint;
    list[0] = (VAConfigAttrib){
        VAConfigAttribRTFormat, attribute_value(driver, config->entrypoint, VAConfigAttribRTFormat)};
    list[1] = (VAConfigAttrib){VAConfigAttribRateControl, config->rate_control};
    *count = 2;
    LEAVE(VA_STATUS_SUCCESS);
}

// MARK: Contexts

static VAStatus create_context(
    VADriverContextP ctx, VAConfigID config, int width, int height, int flag, VASurfaceID *targets, int count,
    VAContextID *id) {
    ENTER("vaCreateContext");
    (void)flag;
    if (!find_config(driver, config)) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONFIG, "no config 0x%x", config));
    if (width < 16 || height < 16 || width > driver->maximum_width || height > driver->maximum_height)
        LEAVE(refuse(driver, VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED, "%dx%d", width, height));
    for (int i = 0; i < count; i++) {
        if (!find_surface(driver, targets[i]))
            LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", targets[i]));
    }
    if (count_used_contexts(driver) >= driver->context_limit) LEAVE(VA_STATUS_ERROR_MAX_NUM_EXCEEDED);
    for (int i = 0; i < MAXIMUM_CONTEXTS; i++) {
        if (driver->contexts[i].used) continue;
        memset(&driver->contexts[i], 0, sizeof(Context));
        driver->contexts[i].used = true;
        driver->contexts[i].config = config;
        driver->contexts[i].width = width;
        driver->contexts[i].height = height;
        *id = (VAContextID)(CONTEXT_BASE + i);
        LEAVE(VA_STATUS_SUCCESS);
    }
    LEAVE(VA_STATUS_ERROR_MAX_NUM_EXCEEDED);
}

static VAStatus destroy_context(VADriverContextP ctx, VAContextID id) {
    ENTER("vaDestroyContext");
    Context *context = find_context(driver, id);
    if (!context) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONTEXT, "no context 0x%x", id));
    destroy_encoder(context->encoder);
#ifdef HAS_DECODER
    destroy_decoder(context->decoder);
#endif
    memset(context, 0, sizeof *context);
    LEAVE(VA_STATUS_SUCCESS);
}

// MARK: Buffers

// The size of one element; 0 where any will do, and -1 for types that are not known.
static long element_size(VABufferType type) {
    switch ((int)type) {
    case VAEncSequenceParameterBufferType: return sizeof(VAEncSequenceParameterBufferH264);
    case VAEncPictureParameterBufferType: return sizeof(VAEncPictureParameterBufferH264);
    case VAEncSliceParameterBufferType: return sizeof(VAEncSliceParameterBufferH264);
    case VAEncPackedHeaderParameterBufferType: return sizeof(VAEncPackedHeaderParameterBuffer);
    case VAPictureParameterBufferType: return sizeof(VAPictureParameterBufferH264);
    case VAIQMatrixBufferType: return sizeof(VAIQMatrixBufferH264);
    case VASliceParameterBufferType: return sizeof(VASliceParameterBufferH264);
    case VAProcPipelineParameterBufferType: return sizeof(VAProcPipelineParameterBuffer);
    case VASliceDataBufferType:
    case VAEncCodedBufferType:
    case VAEncMiscParameterBufferType:
    case VAEncPackedHeaderDataBufferType: return 0;
    default: return -1;
    }
}

static VAStatus create_buffer(
    VADriverContextP ctx, VAContextID context, VABufferType type, unsigned size, unsigned count, void *data,
    VABufferID *id) {
    ENTER("vaCreateBuffer");
    if (!find_context(driver, context))
        LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONTEXT, "no context 0x%x", context));
    long element = element_size(type);
    if (element < 0) LEAVE(refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type %d", type));
    if (size == 0 || count == 0 || size > 1u << 28 || count > 64 || (element > 0 && size != (unsigned long)element))
        LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "type %d of %u bytes, %u times", type, size, count));
    for (int i = 0; i < MAXIMUM_BUFFERS; i++) {
        if (driver->buffers[i].used) continue;
        Buffer *buffer = &driver->buffers[i];
        memset(buffer, 0, sizeof *buffer);
        buffer->data = calloc(count, size);
        if (!buffer->data) LEAVE(VA_STATUS_ERROR_ALLOCATION_FAILED);
        if (data) memcpy(buffer->data, data, (size_t)size * count);
        buffer->used = true;
        buffer->type = type;
        buffer->size = size;
        buffer->count = count;
        *id = (VABufferID)(BUFFER_BASE + i);
        driver->buffers_made++;
        LEAVE(VA_STATUS_SUCCESS);
    }
    LEAVE(refuse(driver, VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "more than %d buffers", MAXIMUM_BUFFERS));
}

static VAStatus map_buffer(VADriverContextP ctx, VABufferID id, void **data) {
    ENTER("vaMapBuffer");
    Buffer *buffer = find_buffer(driver, id);
    if (!buffer) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "no buffer 0x%x", id));
    if (buffer->mapped) LEAVE(refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "buffer 0x%x is mapped", id));
    if (buffer->type == VAEncCodedBufferType) {
        if (!buffer->filled) LEAVE(refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "nothing is coded in 0x%x", id));
        *data = &buffer->segment;
    } else {
        *data = buffer->data;
    }
    buffer->mapped = true;
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus unmap_buffer(VADriverContextP ctx, VABufferID id) {
    ENTER("vaUnmapBuffer");
    Buffer *buffer = find_buffer(driver, id);
    if (!buffer || !buffer->mapped) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "0x%x is not mapped", id));
    buffer->mapped = false;
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus destroy_buffer(VADriverContextP ctx, VABufferID id) {
    ENTER("vaDestroyBuffer");
    Buffer *buffer = find_buffer(driver, id);
    if (!buffer) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "no buffer 0x%x", id));
    if (buffer->mapped) LEAVE(refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "buffer 0x%x is mapped", id));
    if (!buffer->borrowed) free(buffer->data);
    memset(buffer, 0, sizeof *buffer);
    LEAVE(VA_STATUS_SUCCESS);
}

void destroy_objects(Driver *driver) {
    for (int i = 0; i < MAXIMUM_IMAGES; i++) destroy_image_at(driver, i);
    for (int i = 0; i < MAXIMUM_CONTEXTS; i++) {
        if (!driver->contexts[i].used) continue;
        destroy_encoder(driver->contexts[i].encoder);
#ifdef HAS_DECODER
        destroy_decoder(driver->contexts[i].decoder);
#endif
    }
    for (int i = 0; i < MAXIMUM_BUFFERS; i++) {
        if (driver->buffers[i].used && !driver->buffers[i].borrowed) free(driver->buffers[i].data);
    }
    for (int i = 0; i < MAXIMUM_SURFACES; i++) destroy_surface_at(driver, i);
}

void set_object_functions(struct VADriverVTable *table) {
    table->vaQueryConfigProfiles = query_profiles;
    table->vaQueryConfigEntrypoints = query_entrypoints;
    table->vaGetConfigAttributes = get_attributes;
    table->vaCreateConfig = create_config;
    table->vaDestroyConfig = destroy_config;
    table->vaQueryConfigAttributes = query_config;
    table->vaCreateContext = create_context;
    table->vaDestroyContext = destroy_context;
    table->vaCreateBuffer = create_buffer;
    table->vaMapBuffer = map_buffer;
    table->vaUnmapBuffer = unmap_buffer;
    table->vaDestroyBuffer = destroy_buffer;
}
#endif
