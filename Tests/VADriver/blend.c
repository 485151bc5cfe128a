// Scaling, turning and blending of one surface onto another, by libyuv.
#include "driver.h"
#ifdef HAS_LIBVA
#include <libyuv.h>
#include <stdlib.h>

// A picture in planes of its own.
typedef struct {
    uint8_t *memory, *y, *u, *v;
    int width, height, chroma_width;
} Planes;

static bool make_planes(Planes *planes, int width, int height) {
    int chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
    size_t luma = (size_t)width * height, chroma = (size_t)chroma_width * chroma_height;
    uint8_t *memory = malloc(luma + 2 * chroma);
    if (!memory) return false;
    *planes = (Planes){memory, memory, memory + luma, memory + luma + chroma, width, height, chroma_width};
    return true;
}

static uint8_t clamp(int value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

// BT.601 in limited range.
void fill_surface(const Surface *target, uint32_t colour) {
    int red = colour >> 16 & 255, green = colour >> 8 & 255, blue = colour & 255;
    if (target->fourcc == VA_FOURCC_BGRA) {
        ARGBRect(target->samples, target->stride, 0, 0, target->width, target->height, colour);
        return;
    }
    uint8_t y = clamp((66 * red + 129 * green + 25 * blue + 128 + 16 * 256) >> 8);
    uint8_t u = clamp((-38 * red - 74 * green + 112 * blue + 128 + 128 * 256) >> 8);
    uint8_t v = clamp((112 * red - 94 * green - 18 * blue + 128 + 128 * 256) >> 8);
    SetPlane(target->samples, target->stride, target->width, target->height, y);
    for (int row = 0; row < (target->height + 1) / 2; row++) {
        uint8_t *chroma = surface_chroma(target) + (size_t)row * target->stride;
        for (int column = 0; column < (target->width + 1) / 2; column++) {
            chroma[2 * column] = u;
            chroma[2 * column + 1] = v;
        }
    }
}

// Lays `planes` over a part of an NV12 surface, with `alpha` of 256.
static void mix(const Planes *planes, const Surface *target, const VARectangle *place, int alpha) {
    for (int row = 0; row < planes->height; row++) {
        uint8_t *to = target->samples + (size_t)(place->y + row) * target->stride + place->x;
        const uint8_t *from = planes->y + (size_t)row * planes->width;
        for (int i = 0; i < planes->width; i++) to[i] = (uint8_t)((from[i] * alpha + to[i] * (256 - alpha) + 128) >> 8);
    }
    for (int row = 0; row < (planes->height + 1) / 2; row++) {
        uint8_t *to = surface_chroma(target) + (size_t)(place->y / 2 + row) * target->stride + place->x;
        const uint8_t *u = planes->u + (size_t)row * planes->chroma_width;
        const uint8_t *v = planes->v + (size_t)row * planes->chroma_width;
        for (int i = 0; i < planes->chroma_width; i++) {
            to[2 * i] = (uint8_t)((u[i] * alpha + to[2 * i] * (256 - alpha) + 128) >> 8);
            to[2 * i + 1] = (uint8_t)((v[i] * alpha + to[2 * i + 1] * (256 - alpha) + 128) >> 8);
        }
    }
}

static VAStatus draw_video(const Surface *source, const Layer *layer, const Surface *target) {
    VARectangle from = layer->source, to = layer->place;
    bool is_turned = layer->rotation == VA_ROTATION_90 || layer->rotation == VA_ROTATION_270;
    int width = is_turned ? to.height : to.width, height = is_turned ? to.width : to.height;
    Planes whole = {0}, scaled = {0}, turned = {0};
    VAStatus status = VA_STATUS_ERROR_ALLOCATION_FAILED;
    if (make_planes(&whole, from.width, from.height) && make_planes(&scaled, width, height)
        && make_planes(&turned, to.width, to.height)) {
        size_t column = (size_t)from.x, row = (size_t)from.y;
        NV12ToI420(source->samples + row * source->stride + column, source->stride,
                   surface_chroma(source) + row / 2 * source->stride + column, source->stride,
                   whole.y, whole.width, whole.u, whole.chroma_width, whole.v, whole.chroma_width,
                   from.width, from.height);
        bool shrinks = width <= from.width && height <= from.height;
        I420Scale(whole.y, whole.width, whole.u, whole.chroma_width, whole.v, whole.chroma_width,
                  from.width, from.height, scaled.y, scaled.width, scaled.u, scaled.chroma_width,
                  scaled.v, scaled.chroma_width, width, height, shrinks ? kFilterBox : kFilterBilinear);
        I420Rotate(scaled.y, scaled.width, scaled.u, scaled.chroma_width, scaled.v, scaled.chroma_width,
                   turned.y, turned.width, turned.u, turned.chroma_width, turned.v, turned.chroma_width,
                   width, height, (enum RotationMode)(layer->rotation * 90));
        if (target->fourcc == VA_FOURCC_BGRA) {
            I420ToARGB(turned.y, turned.width, turned.u, turned.chroma_width, turned.v, turned.chroma_width,
                       target->samples + (size_t)to.y * target->stride + (size_t)to.x * 4, target->stride,
                       to.width, to.height);
        } else {
            mix(&turned, target, &to, (int)(layer->alpha * 256 + 0.5f));
        }
        status = VA_STATUS_SUCCESS;
    }
    free(whole.memory);
    free(scaled.memory);
    free(turned.memory);
    return status;
}

// Lays colours that are multiplied by their alpha over a part of an NV12 surface: of black and grey, which a colour of
// alpha 0 becomes in YCbCr, no more is left than the alpha.
static void mix_alpha(
    const Planes *colours, const uint8_t *pixels, const Surface *target, const VARectangle *place, float opacity) {
    int width = colours->width, height = colours->height;
    for (int row = 0; row < height; row++) {
        uint8_t *to = target->samples + (size_t)(place->y + row) * target->stride + place->x;
        for (int i = 0; i < width; i++) {
            float alpha = (float)pixels[((size_t)row * width + i) * 4 + 3] / 255 * opacity;
            float colour = (float)(colours->y[(size_t)row * width + i] - 16) * opacity + 16 * alpha;
            to[i] = clamp((int)((float)to[i] * (1 - alpha) + colour + 0.5f));
        }
    }
    for (int row = 0; row < (height + 1) / 2; row++) {
        uint8_t *to = surface_chroma(target) + (size_t)(place->y / 2 + row) * target->stride + place->x;
        for (int i = 0; i < colours->chroma_width; i++) {
            int sum = 0, count = 0;
            for (int y = 2 * row; y < 2 * row + 2 && y < height; y++) {
                for (int x = 2 * i; x < 2 * i + 2 && x < width; x++, count++)
                    sum += pixels[((size_t)y * width + x) * 4 + 3];
            }
            float alpha = (float)sum / (float)(255 * count) * opacity;
            size_t index = (size_t)row * colours->chroma_width + i;
            const uint8_t samples[] = {colours->u[index], colours->v[index]};
            for (int j = 0; j < 2; j++) {
                float colour = (float)(samples[j] - 128) * opacity + 128 * alpha;
                to[2 * i + j] = clamp((int)((float)to[2 * i + j] * (1 - alpha) + colour + 0.5f));
            }
        }
    }
}

static VAStatus draw_graphics(const Surface *source, const Layer *layer, const Surface *target) {
    VARectangle from = layer->source, to = layer->place;
    if (layer->rotation) return VA_STATUS_ERROR_UNIMPLEMENTED;
    Planes colours = {0};
    uint8_t *pixels = malloc((size_t)to.width * to.height * 4);
    if (!pixels || !make_planes(&colours, to.width, to.height)) {
        free(pixels);
        return VA_STATUS_ERROR_ALLOCATION_FAILED;
    }
    int stride = to.width * 4;
    ARGBScale(source->samples + (size_t)from.y * source->stride + (size_t)from.x * 4, source->stride,
              from.width, from.height, pixels, stride, to.width, to.height, kFilterBilinear);
    if (!(layer->blend_flags & VA_BLEND_PREMULTIPLIED_ALPHA))
        ARGBAttenuate(pixels, stride, pixels, stride, to.width, to.height);
    ARGBToI420(pixels, stride, colours.y, colours.width, colours.u, colours.chroma_width, colours.v,
               colours.chroma_width, to.width, to.height);
    mix_alpha(&colours, pixels, target, &to, layer->alpha);
    free(colours.memory);
    free(pixels);
    return VA_STATUS_SUCCESS;
}

VAStatus draw_layer(const Surface *source, const Layer *layer, const Surface *target) {
    return source->fourcc == VA_FOURCC_BGRA ? draw_graphics(source, layer, target) : draw_video(source, layer, target);
}
#endif
