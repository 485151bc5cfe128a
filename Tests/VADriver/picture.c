#include "decode.h"
#ifdef HAS_LIBVA

static bool is_processing(Driver *driver, const Context *context) {
    const Config *config = find_config(driver, context->config);
    return config && config->entrypoint == VAEntrypointVideoProc;
}

static VAStatus begin_picture(VADriverContextP ctx, VAContextID id, VASurfaceID target) {
    ENTER("vaBeginPicture");
    driver->last_target = target;
    Context *context = find_context(driver, id);
    if (!context) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONTEXT, "no context 0x%x", id));
    if (!find_surface(driver, target))
        LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", target));
    context->begun = true;
    context->target = target;
    context->rendered_count = 0;
    context->layer_count = 0;
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus render_picture(VADriverContextP ctx, VAContextID id, VABufferID *list, int count) {
    ENTER("vaRenderPicture");
    Context *context = find_context(driver, id);
    if (!context) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONTEXT, "no context 0x%x", id));
    if (!context->begun) LEAVE(refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "no picture was begun"));
    for (int i = 0; i < count; i++) {
        if (!find_buffer(driver, list[i]))
            LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "no buffer 0x%x", list[i]));
        if (is_processing(driver, context)) {
            // The memory that the parameters point to may be gone when the picture ends.
            status = take_layer(driver, context, find_buffer(driver, list[i]));
            if (status != VA_STATUS_SUCCESS) LEAVE(status);
            continue;
        }
        if (context->rendered_count == MAXIMUM_RENDERED)
            LEAVE(refuse(driver, VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "too many buffers in a picture"));
        context->rendered[context->rendered_count++] = list[i];
    }
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus end_picture(VADriverContextP ctx, VAContextID id) {
    ENTER("vaEndPicture");
    Context *context = find_context(driver, id);
    if (!context) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONTEXT, "no context 0x%x", id));
    if (!context->begun) LEAVE(refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "no picture was begun"));
    context->begun = false;
    if (is_processing(driver, context)) LEAVE(process_picture(driver, context));
    const Config *config = find_config(driver, context->config);
#ifdef HAS_DECODER
    if (config && config->entrypoint == VAEntrypointVLD) LEAVE(decode_picture(driver, context));
#endif
    LEAVE(encode_picture(driver, context, config));
}

static VAStatus sync_surface(VADriverContextP ctx, VASurfaceID id) {
    ENTER("vaSyncSurface");
    if (!find_surface(driver, id)) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", id));
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus query_status(VADriverContextP ctx, VASurfaceID id, VASurfaceStatus *result) {
    ENTER("vaQuerySurfaceStatus");
    if (!find_surface(driver, id)) LEAVE(VA_STATUS_ERROR_INVALID_SURFACE);
    *result = VASurfaceReady;
    LEAVE(VA_STATUS_SUCCESS);
}

void set_picture_functions(struct VADriverVTable *table) {
    table->vaBeginPicture = begin_picture;
    table->vaRenderPicture = render_picture;
    table->vaEndPicture = end_picture;
    table->vaSyncSurface = sync_surface;
    table->vaQuerySurfaceStatus = query_status;
}
#endif
