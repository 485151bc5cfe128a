// Surfaces: their memory, formats, and how displays share them.
#define _GNU_SOURCE
#include "driver.h"
#ifdef HAS_LIBVA
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// As drm_fourcc.h has them.
enum {
    DRM_FORMAT_NV12 = 0x3231564e,
    DRM_FORMAT_ARGB8888 = 0x34325241,
    DRM_FORMAT_R8 = 0x20203852,
    DRM_FORMAT_GR88 = 0x38385247,
};

Surface *find_surface(Driver *driver, VASurfaceID id) {
    unsigned index = id - SURFACE_BASE;
    if (index >= MAXIMUM_SURFACES || !driver->surfaces[index].used || driver->surfaces[index].lost) return NULL;
    return &driver->surfaces[index];
}

void destroy_surface_at(Driver *driver, int index) {
    Surface *surface = &driver->surfaces[index];
    if (!surface->used) return;
    if (surface->file >= 0) {
        munmap(surface->samples, surface->size);
        close(surface->file);
    } else {
        free(surface->samples);
    }
    memset(surface, 0, sizeof *surface);
}

// MARK: Making

// The sizes of a surface's memory. Rows are longer than pictures are wide, so that code which takes them for the same
// is found out.
static Surface layout(int width, int height, uint32_t fourcc) {
    Surface surface = {.used = true, .width = width, .height = height, .fourcc = fourcc, .file = -1};
    surface.stride = ((fourcc == VA_FOURCC_BGRA ? width * 4 : width) + 63) / 64 * 64 + 64;
    size_t area = (size_t)surface.stride * surface_rows(&surface);
    surface.size = fourcc == VA_FOURCC_BGRA ? area : area * 3 / 2;
    return surface;
}

// Maps another display's memory; false where it is smaller than it says.
static bool import(Surface *surface, const VADRMPRIMESurfaceDescriptor *descriptor) {
    bool is_bgra = surface->fourcc == VA_FOURCC_BGRA;
    struct stat file;
    if (descriptor->fourcc != surface->fourcc || descriptor->width != (uint32_t)surface->width
        || descriptor->height != (uint32_t)surface->height || descriptor->num_objects != 1
        || descriptor->objects[0].drm_format_modifier || fstat(descriptor->objects[0].fd, &file))
        return false;
    bool is_composed = descriptor->num_layers == 1;
    if (!is_composed && (is_bgra || descriptor->num_layers != 2)) return false;
    uint32_t pitch = descriptor->layers[0].pitch[0];
    uint32_t chroma_pitch = is_composed ? descriptor->layers[0].pitch[1] : descriptor->layers[1].pitch[0];
    uint32_t chroma = is_composed ? descriptor->layers[0].offset[1] : descriptor->layers[1].offset[0];
    surface->stride = (int)pitch;
    size_t area = (size_t)pitch * surface_rows(surface), size = is_bgra ? area : area * 3 / 2;
    if (descriptor->layers[0].offset[0] || pitch < (uint32_t)surface->width * (is_bgra ? 4 : 1)
        || (!is_bgra && (chroma_pitch != pitch || chroma != area)) || (size_t)file.st_size < size
        || descriptor->objects[0].size < size)
        return false;
    surface->size = size;
    surface->file = fcntl(descriptor->objects[0].fd, F_DUPFD_CLOEXEC, 0);
    if (surface->file < 0) return false;
    surface->samples = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, surface->file, 0);
    if (surface->samples != MAP_FAILED) return true;
    close(surface->file);
    return false;
}

static VAStatus make_surfaces(
    Driver *driver, int width, int height, unsigned format, uint32_t fourcc,
    const VADRMPRIMESurfaceDescriptor *descriptors, int count, VASurfaceID *list) {
    bool is_bgra = fourcc == VA_FOURCC_BGRA;
    if (format != (is_bgra ? VA_RT_FORMAT_RGB32 : VA_RT_FORMAT_YUV420) || (is_bgra && !driver->has_bgra))
        return refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT, "0x%x", format);
    if (width < 1 || height < 1 || width > driver->maximum_width || height > driver->maximum_height)
        return refuse(driver, VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED, "%dx%d", width, height);
    VAStatus status = VA_STATUS_SUCCESS;
    int made = 0;
    for (int i = 0; i < MAXIMUM_SURFACES && made < count && status == VA_STATUS_SUCCESS; i++) {
        if (driver->surfaces[i].used) continue;
        Surface surface = layout(width, height, fourcc);
        if (descriptors) {
            if (!import(&surface, &descriptors[made]))
                status = refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "the descriptor of a surface");
        } else if (!(surface.samples = calloc(surface.size, 1))) {
            status = VA_STATUS_ERROR_ALLOCATION_FAILED;
        }
        if (status != VA_STATUS_SUCCESS) break;
        driver->surfaces[i] = surface;
        driver->surfaces_made++;
        list[made++] = (VASurfaceID)(SURFACE_BASE + i);
    }
    log_line(driver, "surfaces %dx%d %.4s count=%d%s", width, height, (const char *)&fourcc, made,
             descriptors ? " imported" : "");
    if (made == count) return VA_STATUS_SUCCESS;
    for (int i = 0; i < made; i++) destroy_surface_at(driver, (int)(list[i] - SURFACE_BASE));
    return status != VA_STATUS_SUCCESS ? status : VA_STATUS_ERROR_ALLOCATION_FAILED;
}

static VAStatus create_surfaces(
    VADriverContextP ctx, int width, int height, int format, int count, VASurfaceID *list) {
    ENTER("vaCreateSurfaces");
    LEAVE(make_surfaces(driver, width, height, (unsigned)format, VA_FOURCC_NV12, NULL, count, list));
}

static VAStatus create_surfaces2(
    VADriverContextP ctx, unsigned format, unsigned width, unsigned height, VASurfaceID *list, unsigned count,
    VASurfaceAttrib *attributes, unsigned attribute_count) {
    ENTER("vaCreateSurfaces");
    uint32_t fourcc = format == VA_RT_FORMAT_RGB32 ? VA_FOURCC_BGRA : VA_FOURCC_NV12;
    uint32_t memory = VA_SURFACE_ATTRIB_MEM_TYPE_VA;
    const VADRMPRIMESurfaceDescriptor *descriptors = NULL;
    for (unsigned i = 0; i < attribute_count; i++) {
        uint32_t value = (uint32_t)attributes[i].value.value.i;
        switch ((int)attributes[i].type) {
        case VASurfaceAttribPixelFormat:
            if (value != fourcc) LEAVE(refuse(driver, VA_STATUS_ERROR_ATTR_NOT_SUPPORTED, "pixel format 0x%x", value));
            break;
        case VASurfaceAttribMemoryType: memory = value; break;
        case VASurfaceAttribExternalBufferDescriptor: descriptors = attributes[i].value.value.p; break;
        default: break;
        }
    }
    bool is_shared = memory == VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2 && driver->shares;
    if (memory != VA_SURFACE_ATTRIB_MEM_TYPE_VA && !is_shared)
        LEAVE(refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE, "memory type 0x%x", memory));
    if (is_shared != (descriptors != NULL))
        LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "memory of others, and no descriptor, or without"));
    LEAVE(make_surfaces(driver, (int)width, (int)height, format, fourcc, descriptors, (int)count, list));
}

static VAStatus destroy_surfaces(VADriverContextP ctx, VASurfaceID *list, int count) {
    ENTER("vaDestroySurfaces");
    for (int i = 0; i < count; i++) {
        unsigned index = list[i] - SURFACE_BASE;
        if (index >= MAXIMUM_SURFACES || !driver->surfaces[index].used)
            LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", list[i]));
        destroy_surface_at(driver, (int)index);
    }
    LEAVE(VA_STATUS_SUCCESS);
}

// MARK: Sharing

// Moves a surface's samples to memory that others may have. Images of them are gone by then.
static bool move_to_file(Driver *driver, Surface *surface) {
    for (int i = 0; i < MAXIMUM_BUFFERS; i++) {
        if (driver->buffers[i].used && driver->buffers[i].data == surface->samples) return false;
    }
    int file = memfd_create("surface", MFD_CLOEXEC);
    if (file < 0) return false;
    uint8_t *samples = ftruncate(file, (off_t)surface->size)
        ? MAP_FAILED : mmap(NULL, surface->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (samples == MAP_FAILED) {
        close(file);
        return false;
    }
    memcpy(samples, surface->samples, surface->size);
    free(surface->samples);
    surface->samples = samples;
    surface->file = file;
    return true;
}

static VAStatus export_surface(
    VADriverContextP ctx, VASurfaceID id, uint32_t memory, uint32_t flags, void *result) {
    ENTER("vaExportSurfaceHandle");
    Surface *surface = find_surface(driver, id);
    if (!surface) LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_SURFACE, "no surface 0x%x", id));
    if (memory != VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2 || !driver->shares)
        LEAVE(refuse(driver, VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE, "memory type 0x%x", memory));
    bool is_composed = flags & VA_EXPORT_SURFACE_COMPOSED_LAYERS, is_bgra = surface->fourcc == VA_FOURCC_BGRA;
    if (is_composed == !!(flags & VA_EXPORT_SURFACE_SEPARATE_LAYERS))
        LEAVE(refuse(driver, VA_STATUS_ERROR_INVALID_PARAMETER, "layers are separate or composed"));
    if (surface->file < 0 && !move_to_file(driver, surface))
        LEAVE(refuse(driver, VA_STATUS_ERROR_OPERATION_FAILED, "surface 0x%x cannot be shared", id));
    VADRMPRIMESurfaceDescriptor *descriptor = result;
    memset(descriptor, 0, sizeof *descriptor);
    descriptor->fourcc = surface->fourcc;
    descriptor->width = (uint32_t)surface->width;
    descriptor->height = (uint32_t)surface->height;
    descriptor->num_objects = 1;
    descriptor->objects[0].fd = fcntl(surface->file, F_DUPFD_CLOEXEC, 0);
    descriptor->objects[0].size = (uint32_t)surface->size;
    descriptor->num_layers = is_bgra || is_composed ? 1 : 2;
    uint32_t chroma = (uint32_t)(surface->stride * surface_rows(surface)), pitch = (uint32_t)surface->stride;
    descriptor->layers[0].drm_format = is_bgra ? DRM_FORMAT_ARGB8888 : is_composed ? DRM_FORMAT_NV12 : DRM_FORMAT_R8;
    descriptor->layers[0].num_planes = is_bgra || !is_composed ? 1 : 2;
    descriptor->layers[0].pitch[0] = pitch;
    if (!is_bgra && is_composed) {
        descriptor->layers[0].pitch[1] = pitch;
        descriptor->layers[0].offset[1] = chroma;
    } else if (!is_bgra) {
        descriptor->layers[1].drm_format = DRM_FORMAT_GR88;
        descriptor->layers[1].num_planes = 1;
        descriptor->layers[1].pitch[0] = pitch;
        descriptor->layers[1].offset[0] = chroma;
    }
    LEAVE(descriptor->objects[0].fd >= 0 ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_OPERATION_FAILED);
}

// MARK: Attributes

static VAStatus query_surface_attributes(
    VADriverContextP ctx, VAConfigID id, VASurfaceAttrib *list, unsigned *count) {
    ENTER("vaQuerySurfaceAttributes");
    const Config *config = find_config(driver, id);
    if (!config) LEAVE(VA_STATUS_ERROR_INVALID_CONFIG);
    unsigned both = VA_SURFACE_ATTRIB_GETTABLE | VA_SURFACE_ATTRIB_SETTABLE;
    uint32_t memory = VA_SURFACE_ATTRIB_MEM_TYPE_VA | (driver->shares ? VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2 : 0);
    struct { VASurfaceAttribType type; unsigned flags; uint32_t value; } known[7] = {
        {VASurfaceAttribPixelFormat, both, VA_FOURCC_NV12},
        {VASurfaceAttribMemoryType, both, memory},
        {VASurfaceAttribMinWidth, VA_SURFACE_ATTRIB_GETTABLE, 16},
        {VASurfaceAttribMinHeight, VA_SURFACE_ATTRIB_GETTABLE, 16},
        {VASurfaceAttribMaxWidth, VA_SURFACE_ATTRIB_GETTABLE, (uint32_t)driver->maximum_width},
        {VASurfaceAttribMaxHeight, VA_SURFACE_ATTRIB_GETTABLE, (uint32_t)driver->maximum_height},
        {VASurfaceAttribPixelFormat, both, VA_FOURCC_BGRA},
    };
    bool has_bgra = config->entrypoint == VAEntrypointVideoProc && driver->has_bgra;
    unsigned room = *count, wanted = has_bgra ? 7 : 6;
    *count = wanted;
    if (!list) LEAVE(VA_STATUS_SUCCESS);
    if (room < wanted) LEAVE(VA_STATUS_ERROR_MAX_NUM_EXCEEDED);
    for (unsigned i = 0; i < wanted; i++) {
        list[i].type = known[i].type;
        list[i].flags = known[i].flags;
        list[i].value.type = VAGenericValueTypeInteger;
        list[i].value.value.i = (int)known[i].value;
    }
    LEAVE(VA_STATUS_SUCCESS);
}

void set_surface_functions(struct VADriverVTable *table) {
    table->vaCreateSurfaces = create_surfaces;
    table->vaCreateSurfaces2 = create_surfaces2;
    table->vaDestroySurfaces = destroy_surfaces;
    table->vaQuerySurfaceAttributes = query_surface_attributes;
    table->vaExportSurfaceHandle = export_surface;
}
#endif
