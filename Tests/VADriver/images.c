#include "driver.h"
#ifdef HAS_LIBVA
#include <stdlib.h>
#include <string.h>

static VAImageFormat image_format(uint32_t fourcc) {
    if (fourcc == VA_FOURCC_NV12)
        return (VAImageFormat){.fourcc = fourcc, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12};
    return (VAImageFormat){
        .fourcc = fourcc, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 32, .depth = 32, .red_mask = 0xff0000,
        .green_mask = 0xff00, .blue_mask = 0xff, .alpha_mask = 0xff000000};
}

static VAStatus query_formats(VADriverContextP ctx, VAImageFormat *list, int *count) {
    ENTER("vaQueryImageFormats");
    list[0] = image_format(VA_FOURCC_NV12);
    list[1] = image_format(VA_FOURCC_BGRA);
    *count = driver->has_bgra ? 2 : 1;
    LEAVE(VA_STATUS_SUCCESS);
}

// Makes an image of `samples`, or of samples of its own where that is NULL.
static VAStatus make_image(
    Driver *driver, int width, int height, uint32_t fourcc, int stride, uint8_t *samples, VASurfaceID surface,
    VAImage *result) {
    int image = 0, buffer = 0;
    while (image < MAXIMUM_IMAGES && driver->images[image].used) image++;
    while (buffer < MAXIMUM_BUFFERS && driver->buffers[buffer].used) buffer++;
    if (image == MAXIMUM_IMAGES || buffer == MAXIMUM_BUFFERS)
        return refuse(driver, VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "too many images or buffers");
    int rows = (height + 15) / 16 * 16;
    bool is_nv12 = fourcc == VA_FOURCC_NV12;
    unsigned size = (unsigned)(is_nv12 ? stride * rows * 3 / 2 : stride * rows);
    uint8_t *data = samples ? samples : calloc(size, 1);
    if (!data) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    driver->buffers[buffer] = (Buffer){
        .used = true, .type = VAImageBufferType, .size = size, .count = 1, .data = data, .borrowed = samples != NULL};
    driver->buffers_made++;
    memset(result, 0, sizeof *result);
    result->image_id = (VAImageID)(IMAGE_BASE + image);
    result->format = image_format(fourcc);
    result->buf = (VABufferID)(BUFFER_BASE + buffer);
    result->width = (uint16_t)width;
    result->height = (uint16_t)height;
    result->data_size = size;
    result->num_planes = is_nv12 ? 2 : 1;
    result->pitches[0] = (uint32_t)stride;
    if (is_nv12) {
        result->pitches[1] = (uint32_t)stride;
        result->offsets[1] = (uint32_t)(stride * rows);
    }
    driver->images[image] = (Image){true, *result, surface};
    return VA_STATUS_SUCCESS;
}

static VAStatus create_image(VADriverContextP ctx, VAImageFormat *format, int width, int height, VAImage *image) {
    ENTER("vaCreateImage");
    bool is_bgra = format->fourcc == VA_FOURCC_BGRA && driver->has_bgra;
    if (format->fourcc != VA_FOURCC_NV12 && !is_bgra)
        LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_IMAGE_FORMAT, "0x%x", format->fourcc));
    if (width < 1 || height < 1 || width > MAXIMUM_SIDE || height > MAXIMUM_SIDE)
        LEAVE(refuse(driver, VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED, "%dx%d", width, height));
    int stride = (width + 31) / 32 * 32 * (is_bgra ? 4 : 1);
    LEAVE(make_image(driver, width, height, format->fourcc, stride, NULL, VA_INVALID_SURFACE, image));
}

static VAStatus derive_image(VADriverContextP ctx, VASurfaceID id, VAImage *image) {
    ENTER("vaDeriveImage");
    Surface *surface = find_surface(driver, id);
    if (!surface) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", id));
    if (!driver->derives) LEAVE(VA_STATUS_ERROR_OPERATION_FAILED);
    LEAVE(make_image(driver, surface->width, surface->height, surface->fourcc, surface->stride, surface->samples, id,
                     image));
}

void destroy_image_at(Driver *driver, int index) {
    Image *image = &driver->images[index];
    if (!image->used) return;
    Buffer *buffer = find_buffer(driver, image->image.buf);
    if (buffer) {
        if (!buffer->borrowed) free(buffer->data);
        memset(buffer, 0, sizeof *buffer);
    }
    memset(image, 0, sizeof *image);
}

static Image *find_image(Driver *driver, VAImageID id) {
    unsigned index = id - IMAGE_BASE;
    return index < MAXIMUM_IMAGES && driver->images[index].used ? &driver->images[index] : NULL;
}

static VAStatus destroy_image(VADriverContextP ctx, VAImageID id) {
    ENTER("vaDestroyImage");
    Image *image = find_image(driver, id);
    if (!image) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_IMAGE, "no image 0x%x", id));
    destroy_image_at(driver, (int)(image - driver->images));
    LEAVE(VA_STATUS_SUCCESS);
}

// Copies between a surface and an image, whole pictures only.
static VAStatus copy(Driver *driver, VASurfaceID surface_id, VAImageID image_id, bool to_surface) {
    Surface *surface = find_surface(driver, surface_id);
    Image *image = find_image(driver, image_id);
    if (!surface) return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", surface_id);
    if (!image) return refuse(driver, VA_STATUS_ERROR_INVALID_IMAGE, "no image 0x%x", image_id);
    Buffer *buffer = find_buffer(driver, image->image.buf);
    if (image->image.width < surface->width || image->image.height < surface->height)
        return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "the image is smaller than the surface");
    if (image->image.format.fourcc != surface->fourcc)
        return refuse(driver, VA_STATUS_ERROR_INVALID_IMAGE_FORMAT, "the image's format is not the surface's");
    bool is_bgra = surface->fourcc == VA_FOURCC_BGRA;
    for (int plane = 0; plane < (is_bgra ? 1 : 2); plane++) {
        uint8_t *there = plane ? surface_chroma(surface) : surface->samples;
        uint8_t *here = buffer->data + image->image.offsets[plane];
        int count = plane ? (surface->height + 1) / 2 : surface->height;
        for (int row = 0; row < count; row++) {
            uint8_t *a = there + (size_t)row * surface->stride, *b = here + (size_t)row * image->image.pitches[plane];
            size_t bytes = is_bgra ? (size_t)surface->width * 4 : (size_t)(surface->width + 1) / 2 * 2;
            memcpy(to_surface ? a : b, to_surface ? b : a, bytes);
        }
    }
    return VA_STATUS_SUCCESS;
}

static VAStatus get_image(
    VADriverContextP ctx, VASurfaceID surface, int x, int y, unsigned width, unsigned height, VAImageID image) {
    ENTER("vaGetImage");
    (void)width, (void)height;
    if (x || y) LEAVE(refuse(driver, VA_STATUS_ERROR_UNIMPLEMENTED, "a part of a surface"));
    LEAVE(copy(driver, surface, image, false));
}

static VAStatus put_image(
    VADriverContextP ctx, VASurfaceID surface, VAImageID image, int sx, int sy, unsigned sw, unsigned sh, int dx,
    int dy, unsigned dw, unsigned dh) {
    ENTER("vaPutImage");
    if (sx || sy || dx || dy || sw != dw || sh != dh)
        LEAVE(refuse(driver, VA_STATUS_ERROR_UNIMPLEMENTED, "a part of a surface, or scaling"));
    LEAVE(copy(driver, surface, image, true));
}

void set_image_functions(struct VADriverVTable *table) {
    table->vaQueryImageFormats = query_formats;
    table->vaCreateImage = create_image;
    table->vaDeriveImage = derive_image;
    table->vaDestroyImage = destroy_image;
    table->vaGetImage = get_image;
    table->vaPutImage = put_image;
}
#endif
