// The driver's objects and the functions that its files share. None of them is visible outside the library.
#pragma once
#if __has_include(<va/va_backend.h>)
#define HAS_LIBVA 1
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <va/va.h>
#include <va/va_backend.h>
#include <va/va_backend_vpp.h>
#include <va/va_drmcommon.h>
#include <va/va_enc_h264.h>
#include <va/va_vpp.h>

#pragma GCC visibility push(hidden)

enum {
    MAXIMUM_CONFIGS = 64,
    MAXIMUM_CONTEXTS = 64,
    MAXIMUM_SURFACES = 256,
    MAXIMUM_BUFFERS = 4096,
    MAXIMUM_IMAGES = 64,
    MAXIMUM_SIDE = 4096,
    MAXIMUM_RENDERED = 1100,
    MAXIMUM_FAULTS = 1024,
    MAXIMUM_LAYERS = 64,
};

// Identifiers name an object and its kind, so that one kind's number is none of another's.
enum { CONFIG_BASE = 0x1000, CONTEXT_BASE = 0x2000, SURFACE_BASE = 0x4000, BUFFER_BASE = 0x8000, IMAGE_BASE = 0x10000 };

typedef struct {
    bool used;
    VAProfile profile;
    VAEntrypoint entrypoint;
    uint32_t rate_control;
    uint32_t packed_headers;
} Config;

typedef struct {
    bool used;
    bool lost;
    // True once a picture was decoded into it.
    bool decoded;
    int width, height, stride;
    // NV12: luma, then chroma; or BGRA.
    uint32_t fourcc;
    uint8_t *samples;
    size_t size;
    // The memory's file, where another display may have it; -1 where none can.
    int file;
} Surface;

typedef struct {
    bool used;
    VABufferType type;
    unsigned size, count;
    uint8_t *data;
    bool mapped;
    // The samples of a surface or an image, which the buffer does not own.
    bool borrowed;
    // Of a coded buffer: what its mapping shows.
    VACodedBufferSegment segment;
    bool filled;
} Buffer;

typedef struct {
    bool used;
    VAImage image;
    // The surface that it was derived from; VA_INVALID_SURFACE where it has samples of its own.
    VASurfaceID surface;
} Image;

// A picture that others may refer to.
typedef struct {
    VASurfaceID surface;
    uint32_t frame_num;
    int layer;
} Reference;

// A surface that is scaled onto the target, as vaRenderPicture was told.
typedef struct {
    VASurfaceID surface;
    VARectangle source, place;
    uint32_t rotation, background;
    uint32_t blend_flags;
    float alpha;
} Layer;

typedef struct {
    bool used;
    VAConfigID config;
    int width, height;
    bool begun;
    VASurfaceID target;
    VABufferID rendered[MAXIMUM_RENDERED];
    int rendered_count;
    Layer layers[MAXIMUM_LAYERS];
    int layer_count;
    struct H264Encoder *encoder;
    struct H264Decoder *decoder;
} Context;

typedef struct {
    // By number of the call on this display, or by a function's name and the number of its call.
    uint64_t call;
    char function[40];
    char action[12];
    uint32_t argument;
} Fault;

typedef struct {
    pthread_mutex_t lock;
    Config configs[MAXIMUM_CONFIGS];
    Context contexts[MAXIMUM_CONTEXTS];
    Surface surfaces[MAXIMUM_SURFACES];
    Buffer buffers[MAXIMUM_BUFFERS];
    Image images[MAXIMUM_IMAGES];
    // Settings and faults, as the script has them.
    uint32_t packed_headers;
    uint32_t rate_control;
    VAEntrypoint entrypoint;
    int layers;
    int context_limit;
    // Frames until a new bit rate holds.
    int rate_delay;
    int maximum_width, maximum_height;
    // Of VideoProc: whether it is there, and what it can.
    bool processes;
    uint32_t blend_flags, rotation_flags;
    int layer_limit;
    bool has_bgra, derives, shares;
    bool is_quiet;
    Fault faults[MAXIMUM_FAULTS];
    int fault_count;
    // Of the log.
    int display;
    uint64_t calls;
    uint64_t surfaces_made, buffers_made;
    FILE *log;
    VASurfaceID last_target;
} Driver;

static inline Driver *driver_of(VADriverContextP ctx) { return ctx->pDriverData; }

// script.c
void read_script(Driver *driver);
// Counts and logs a call, and carries out the fault that the script has for it.
VAStatus enter_call(Driver *driver, const char *function);
void log_line(Driver *driver, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Logs why a call is refused, and returns `status`.
VAStatus refuse(Driver *driver, VAStatus status, const char *format, ...) __attribute__((format(printf, 3, 4)));

// objects.c
Config *find_config(Driver *driver, VAConfigID id);
Context *find_context(Driver *driver, VAContextID id);
Buffer *find_buffer(Driver *driver, VABufferID id);
void destroy_objects(Driver *driver);
void set_object_functions(struct VADriverVTable *table);
int count_used_contexts(const Driver *driver);

// surfaces.c
static inline int surface_rows(const Surface *surface) { return (surface->height + 15) / 16 * 16; }
static inline uint8_t *surface_chroma(const Surface *surface) {
    return surface->samples + (size_t)surface->stride * surface_rows(surface);
}
Surface *find_surface(Driver *driver, VASurfaceID id);
void set_surface_functions(struct VADriverVTable *table);
void destroy_surface_at(Driver *driver, int index);

// process.c
void set_processing_functions(struct VADriverVTableVPP *table);
VAStatus take_layer(Driver *driver, Context *context, const Buffer *buffer);
VAStatus process_picture(Driver *driver, Context *context);

// blend.c
VAStatus draw_layer(const Surface *source, const Layer *layer, const Surface *target);
void fill_surface(const Surface *target, uint32_t colour);

// images.c
void set_image_functions(struct VADriverVTable *table);
void destroy_image_at(Driver *driver, int index);

// picture.c
void set_picture_functions(struct VADriverVTable *table);

// encode.c
VAStatus encode_picture(Driver *driver, Context *context, const Config *config);
void destroy_encoder(struct H264Encoder *encoder);

// Takes the driver's lock for one call of `function`, which returns where the script says so.
#define ENTER(function)                                                                                                \
    Driver *driver = driver_of(ctx);                                                                                   \
    pthread_mutex_lock(&driver->lock);                                                                                 \
    VAStatus status = enter_call(driver, function);                                                                    \
    if (status != VA_STATUS_SUCCESS) {                                                                                 \
        pthread_mutex_unlock(&driver->lock);                                                                           \
        return status;                                                                                                 \
    }
#define LEAVE(value)                                                                                                   \
    do {                                                                                                               \
        VAStatus result = (value);                                                                                     \
        pthread_mutex_unlock(&driver->lock);                                                                           \
        return result;                                                                                                 \
    } while (0)

#pragma GCC visibility pop
#endif
