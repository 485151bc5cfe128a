#include "driver.h"
#ifdef HAS_LIBVA
#include <stdlib.h>
#include <string.h>

static VAStatus unimplemented(void) { return VA_STATUS_ERROR_UNIMPLEMENTED; }

static VAStatus terminate(VADriverContextP ctx) {
    Driver *driver = driver_of(ctx);
    pthread_mutex_lock(&driver->lock);
    driver->calls++;
    int left = 0;
    for (int i = 0; i < MAXIMUM_SURFACES; i++) left += driver->surfaces[i].used;
    for (int i = 0; i < MAXIMUM_BUFFERS; i++) left += driver->buffers[i].used;
    for (int i = 0; i < MAXIMUM_IMAGES; i++) left += driver->images[i].used;
    driver->is_quiet = false;
    log_line(driver, "vaTerminate surfaces=%llu buffers=%llu left=%d", (unsigned long long)driver->surfaces_made,
             (unsigned long long)driver->buffers_made, left + count_used_contexts(driver));
    destroy_objects(driver);
    pthread_mutex_unlock(&driver->lock);
    if (driver->log) fclose(driver->log);
    pthread_mutex_destroy(&driver->lock);
    free(driver);
    ctx->pDriverData = NULL;
    return VA_STATUS_SUCCESS;
}

static VAStatus initialize(VADriverContextP ctx) {
    Driver *driver = calloc(1, sizeof *driver);
    if (!driver) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    pthread_mutex_init(&driver->lock, NULL);
    driver->packed_headers = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE
        | VA_ENC_PACKED_HEADER_SLICE | VA_ENC_PACKED_HEADER_MISC | VA_ENC_PACKED_HEADER_RAW_DATA;
    driver->rate_control = VA_RC_CBR | VA_RC_VBR | VA_RC_CQP;
    driver->entrypoint = VAEntrypointEncSlice;
    driver->layers = 3;
    driver->context_limit = MAXIMUM_CONTEXTS;
    driver->maximum_width = driver->maximum_height = MAXIMUM_SIDE;
    driver->processes = driver->has_bgra = driver->derives = driver->shares = true;
    driver->blend_flags = VA_BLEND_GLOBAL_ALPHA | VA_BLEND_PREMULTIPLIED_ALPHA;
    driver->rotation_flags = 1 << VA_ROTATION_NONE | 1 << VA_ROTATION_90 | 1 << VA_ROTATION_180 | 1 << VA_ROTATION_270;
    driver->layer_limit = MAXIMUM_LAYERS;
    driver->last_target = VA_INVALID_SURFACE;
    read_script(driver);
    VAStatus status = enter_call(driver, "vaInitialize");
    if (status != VA_STATUS_SUCCESS) {
        if (driver->log) fclose(driver->log);
        free(driver);
        return status;
    }
    ctx->pDriverData = driver;
    ctx->version_major = VA_MAJOR_VERSION;
    ctx->version_minor = VA_MINOR_VERSION;
    ctx->max_profiles = 4;
    ctx->max_entrypoints = 4;
    ctx->max_attributes = 64;
    ctx->max_image_formats = 2;
    ctx->max_subpic_formats = 1;
    ctx->max_display_attributes = 1;
    ctx->str_vendor = "Software VA driver for tests (OpenH264)";
    // libva loads no driver without its whole table.
    void **entries = (void **)ctx->vtable;
    size_t old = offsetof(struct VADriverVTable, vaGetSurfaceAttributes) / sizeof(void *);
    for (size_t index = 0; index < old; index++) entries[index] = (void *)unimplemented;
    ctx->vtable->vaTerminate = terminate;
    set_object_functions(ctx->vtable);
    set_image_functions(ctx->vtable);
    set_picture_functions(ctx->vtable);
    set_surface_functions(ctx->vtable);
    if (ctx->vtable_vpp) set_processing_functions(ctx->vtable_vpp);
    return VA_STATUS_SUCCESS;
}

// libva looks for the newest name that it knows, then for older ones.
#define ENTRY_NAME_(major, minor) __vaDriverInit_##major##_##minor
#define ENTRY_NAME(major, minor) ENTRY_NAME_(major, minor)
__attribute__((visibility("default"))) VAStatus ENTRY_NAME(VA_MAJOR_VERSION, VA_MINOR_VERSION)(VADriverContextP ctx);
VAStatus ENTRY_NAME(VA_MAJOR_VERSION, VA_MINOR_VERSION)(VADriverContextP ctx) { return initialize(ctx); }
#endif
