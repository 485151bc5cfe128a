// VideoProc: what it can, the checks of a picture's surfaces, and their order.
#include "driver.h"
#ifdef HAS_LIBVA
#include <string.h>

enum { LEAST_SIDE = 2 };

static VAStatus query_filters(
    VADriverContextP ctx, VAContextID id, VAProcFilterType *filters, unsigned *count) {
    ENTER("vaQueryVideoProcFilters");
    (void)filters;
    if (!find_context(driver, id)) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONTEXT, "no context 0x%x", id));
    *count = 0;
    LEAVE(VA_STATUS_SUCCESS);
}

static VAStatus query_filter_caps(
    VADriverContextP ctx, VAContextID id, VAProcFilterType type, void *caps, unsigned *count) {
    ENTER("vaQueryVideoProcFilterCaps");
    (void)id, (void)caps, (void)count;
    LEAVE(refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_FILTER, "filter %d", type));
}

static VAStatus query_pipeline_caps(
    VADriverContextP ctx, VAContextID id, VABufferID *filters, unsigned filter_count, VAProcPipelineCaps *caps) {
    ENTER("vaQueryVideoProcPipelineCaps");
    (void)filters;
    if (!find_context(driver, id)) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_CONTEXT, "no context 0x%x", id));
    if (filter_count) LEAVE(refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_FILTER, "%u filters", filter_count));
    // The lists are the driver's own, as those of others are.
    static VAProcColorStandardType standards[] = {VAProcColorStandardBT601};
    static uint32_t formats[] = {VA_FOURCC_NV12, VA_FOURCC_BGRA};
    memset(caps, 0, sizeof *caps);
    caps->input_color_standards = caps->output_color_standards = standards;
    caps->num_input_color_standards = caps->num_output_color_standards = 1;
    caps->rotation_flags = driver->rotation_flags;
    caps->blend_flags = driver->blend_flags;
    caps->input_pixel_format = caps->output_pixel_format = formats;
    caps->num_input_pixel_formats = caps->num_output_pixel_formats = driver->has_bgra ? 2 : 1;
    caps->max_input_width = caps->max_output_width = (uint32_t)driver->maximum_width;
    caps->max_input_height = caps->max_output_height = (uint32_t)driver->maximum_height;
    caps->min_input_width = caps->min_output_width = LEAST_SIDE;
    caps->min_input_height = caps->min_output_height = LEAST_SIDE;
    LEAVE(VA_STATUS_SUCCESS);
}

// A region, or all of a surface; false where it is not within the surface, or cuts a chroma sample.
static bool read_region(const VARectangle *region, const Surface *surface, VARectangle *result) {
    VARectangle whole = {0, 0, (uint16_t)surface->width, (uint16_t)surface->height};
    *result = region ? *region : whole;
    if (result->x < 0 || result->y < 0 || result->width < LEAST_SIDE || result->height < LEAST_SIDE
        || result->x + result->width > surface->width || result->y + result->height > surface->height)
        return false;
    if (surface->fourcc != VA_FOURCC_NV12) return true;
    bool ends_whole = (result->width % 2 == 0 || result->x + result->width == surface->width)
        && (result->height % 2 == 0 || result->y + result->height == surface->height);
    return result->x % 2 == 0 && result->y % 2 == 0 && ends_whole;
}

static VAStatus refuse_region(Driver *driver, const char *owner, const VARectangle *region) {
    return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "processing: %s region %dx%d at %d, %d", owner,
                  region->width, region->height, region->x, region->y);
}

static const char *fault_of_colours(const VAProcPipelineParameterBuffer *p) {
    VAProcColorStandardType in = p->surface_color_standard, out = p->output_color_standard;
    if ((in != VAProcColorStandardNone && in != VAProcColorStandardBT601)
        || (out != VAProcColorStandardNone && out != VAProcColorStandardBT601))
        return "a colour standard other than BT.601";
    if (p->output_color_properties.color_range == VA_SOURCE_RANGE_FULL) return "full range";
    return NULL;
}

VAStatus take_layer(Driver *driver, Context *context, const Buffer *buffer) {
    const Surface *target = find_surface(driver, context->target);
    if (!target) return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "the target 0x%x is gone", context->target);
    if (buffer->type != VAProcPipelineParameterBufferType)
        return refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type %d in a picture", buffer->type);
    if (buffer->mapped || buffer->count != 1)
        return refuse(driver, VA_STATUS_ERROR_INVALID_BUFFER, "parameters that are mapped, or several");
    if (context->layer_count >= driver->layer_limit)
        return refuse(driver, VA_STATUS_ERROR_MAX_NUM_EXCEEDED, "more than %d surfaces", driver->layer_limit);
    const VAProcPipelineParameterBuffer *p = (const void *)buffer->data;
    const Surface *source = find_surface(driver, p->surface);
    if (!source) return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", p->surface);
    if (p->surface == context->target)
        return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "the target is its own source");
    Layer layer = {
        .surface = p->surface, .rotation = p->rotation_state, .background = p->output_background_color, .alpha = 1};
    const char *fault = fault_of_colours(p);
    if (!read_region(p->surface_region, source, &layer.source))
        return refuse_region(driver, "the surface's", &layer.source);
    if (!read_region(p->output_region, target, &layer.place))
        return refuse_region(driver, "the output's", &layer.place);
    if (p->num_filters || p->num_forward_references || p->num_backward_references) fault = "filters";
    if (p->num_additional_outputs) fault = "additional outputs";
    if (p->mirror_state) fault = "mirroring";
    if (layer.rotation > VA_ROTATION_270 || !(driver->rotation_flags & (1u << layer.rotation)))
        fault = layer.rotation ? "a rotation" : fault;
    if (target->fourcc != VA_FOURCC_NV12 && (layer.rotation || source->fourcc != VA_FOURCC_NV12))
        fault = "a BGRA target of anything but NV12 upright";
    if (p->blend_state) {
        layer.blend_flags = p->blend_state->flags;
        if (layer.blend_flags & VA_BLEND_GLOBAL_ALPHA) layer.alpha = p->blend_state->global_alpha;
        bool is_opaque = source->fourcc != VA_FOURCC_BGRA;
        if (layer.blend_flags & ~driver->blend_flags || !(layer.alpha >= 0 && layer.alpha <= 1)
            || (is_opaque && layer.blend_flags & VA_BLEND_PREMULTIPLIED_ALPHA))
            return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "blending 0x%x by %f", layer.blend_flags,
                          (double)layer.alpha);
    } else if (source->fourcc == VA_FOURCC_BGRA && !(driver->blend_flags & VA_BLEND_PREMULTIPLIED_ALPHA)) {
        fault = "alpha that is not blended";
    }
    if (fault) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "processing: %s", fault);
    context->layers[context->layer_count++] = layer;
    return VA_STATUS_SUCCESS;
}

VAStatus process_picture(Driver *driver, Context *context) {
    const Surface *target = find_surface(driver, context->target);
    if (!target) return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "the target 0x%x is gone", context->target);
    if (!context->layer_count) return refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "a picture of no surface");
    // Once for the whole target, below all surfaces.
    for (int i = 0; i < context->layer_count; i++) {
        uint32_t colour = context->layers[i].background;
        if (!(colour >> 24)) continue;
        fill_surface(target, colour);
        break;
    }
    for (int i = 0; i < context->layer_count; i++) {
        const Surface *source = find_surface(driver, context->layers[i].surface);
        if (!source)
            return refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "0x%x is gone", context->layers[i].surface);
        VAStatus status = draw_layer(source, &context->layers[i], target);
        if (status != VA_STATUS_SUCCESS) return refuse(driver, status, "surface %d of the picture", i);
    }
    log_line(driver, "processed 0x%x surfaces=%d", context->target, context->layer_count);
    return VA_STATUS_SUCCESS;
}

void set_processing_functions(struct VADriverVTableVPP *table) {
    table->version = VA_DRIVER_VTABLE_VPP_VERSION;
    table->vaQueryVideoProcFilters = query_filters;
    table->vaQueryVideoProcFilterCaps = query_filter_caps;
    table->vaQueryVideoProcPipelineCaps = query_pipeline_caps;
}
#endif
