#include "driver.h"
#ifdef HAS_LIBVA
#include <stdlib.h>
#include <string.h>

static VAStatus query_formats(VADriverContextP ctx, VAImageFormat *list, int *count) {
    ENTER("vaQueryImageFormats");
    list[0] = (VAImageFormat){.fourcc = VA_FOURCC_NV12, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12};
    *count = 1;
    LEAVE(VA_STATUS_SUCCESS);
}

// Makes an image of `samples`, or of samples of its own where that is NULL.
static VAStatus make_image(
    Driver *driver, int width, int height, int stride, uint8_t *samples, VASurfaceID surface, VAImage *result) {
    int image = 0, buffer = 0;
    while (image < MAXIMUM_IMAGES && driver->images[image].used) image++;
    while (buffer < MAXIMUM_BUFFERS && driver->buffers[buffer].used) buffer++;
    if (image == MAXIMUM_IMAGES || buffer == MAXIMUM_BUFFERS)
        return refuse(driver, VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "too many images or buffers");
    int rows = (height + 15) / 16 * 16;
    unsigned size = (unsigned)(stride * rows * 3 / 2);
    uint8_t *data = samples ? samples : calloc(size, 1);
    if (!data) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    driver->buffers[buffer] = (Buffer){
        .used = true, .type = VAImageBufferType, .size = size, .count = 1, .data = data, .borrowed = samples != NULL};
    memset(result, 0, sizeof *result);
    result->image_id = (VAImageID)(IMAGE_BASE + image);
    result->format = (VAImageFormat){.fourcc = VA_FOURCC_NV12, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12};
    result->buf = (VABufferID)(BUFFER_BASE + buffer);
    result->width = (uint16_t)width;
    result->height = (uint16_t)height;
    result->data_size = size;
    result->num_planes = 2;
    result->pitches[0] = result->pitches[1] = (uint32_t)stride;
    result->offsets[1] = (uint32_t)(stride * rows);
    driver->images[image] = (Image){true, *result, surface};
    return VA_STATUS_SUCCESS;
}

static VAStatus create_image(VADriverContextP ctx, VAImageFormat *format, int width, int height, VAImage *image) {
    ENTER("vaCreateImage");
    if (format->fourcc != VA_FOURCC_NV12)
        LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_IMAGE_FORMAT, "0x%x", format->fourcc));
    if (width < 1 || height < 1 || width > MAXIMUM_SIDE || height > MAXIMUM_SIDE)
        LEAVE(refuse(driver, VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED, "%dx%d", width, height));
    LEAVE(make_image(driver, width, height, (width + 31) / 32 * 32, NULL, VA_INVALID_SURFACE, image));
}

static VAStatus derive_image(VADriverContextP ctx, VASurfaceID id, VAImage *image) {
    ENTER("vaDeriveImage");
    Surface *surface = find_surface(driver, id);
    if (!surface) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", id));
    LEAVE(make_image(driver, surface->width, surface->height, surface->stride, surface->samples, id, image));
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
    int rows = (surface->height + 15) / 16 * 16;
    for (int plane = 0; plane < 2; plane++) {
        uint8_t *there = surface->samples + (plane ? (size_t)surface->stride * rows : 0);
        uint8_t *here = buffer->data + image->image.offsets[plane];
        int count = plane ? (surface->height + 1) / 2 : surface->height;
        for (int row = 0; row < count; row++) {
            uint8_t *a = there + (size_t)row * surface->stride, *b = here + (size_t)row * image->image.pitches[plane];
            memcpy(to_surface ? a : b, to_surface ? b : a, (size_t)(surface->width + 1) / 2 * 2);
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
