#include "picture.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

void place(const Picture &source, Picture &target, int x, int y) {
    for (int i = 0; i < 3; i++) {
        const int shift = i == 0 ? 0 : 1;
        uint8_t *to = target.plane(i) + (y >> shift) * target.stride(i) + (x >> shift);
        for (int row = 0; row < source.rows(i); row++) {
            memcpy(to + row * target.stride(i), source.plane(i) + row * source.stride(i), size_t(source.stride(i)));
        }
    }
}

bool isAt(const Picture &part, const Picture &whole, int x, int y) {
    for (int i = 0; i < 3; i++) {
        const int shift = i == 0 ? 0 : 1;
        const uint8_t *at = whole.plane(i) + (y >> shift) * whole.stride(i) + (x >> shift);
        for (int row = 0; row < part.rows(i); row++) {
            const uint8_t *line = part.plane(i) + row * part.stride(i);
            if (memcmp(at + row * whole.stride(i), line, size_t(part.stride(i))) != 0) return false;
        }
    }
    return true;
}

bool hasFlatRim(const Picture &picture, int depth, uint8_t value) {
    for (int i = 0; i < 3; i++) {
        const int rim = i == 0 ? depth : depth / 2, width = picture.stride(i), height = picture.rows(i);
        for (int y = 0; y < height; y++) {
            const uint8_t *line = picture.plane(i) + y * width;
            for (int x = 0; x < width; x++) {
                const bool isInside = x >= rim && x < width - rim && y >= rim && y < height - rim;
                if (!isInside && line[x] != value) return false;
            }
        }
    }
    return true;
}

Picture halved(const Picture &picture) {
    Picture result(picture.width / 2, picture.height / 2);
    for (int i = 0; i < 3; i++) {
        const int stride = picture.stride(i), width = result.stride(i);
        for (int y = 0; y < result.rows(i); y++) {
            const uint8_t *line = picture.plane(i) + 2 * y * stride;
            for (int x = 0; x < width; x++, line += 2) {
                result.plane(i)[y * width + x] =
                    uint8_t((line[0] + line[1] + line[stride] + line[stride + 1] + 2) / 4);
            }
        }
    }
    return result;
}

Picture doubled(const Picture &picture) {
    Picture result(picture.width * 2, picture.height * 2);
    for (int i = 0; i < 3; i++) {
        const int width = picture.stride(i), rows = picture.rows(i);
        for (int y = 0; y < 2 * rows; y++) {
            const int near = y / 2, far = std::clamp(near + (y & 1 ? 1 : -1), 0, rows - 1);
            const uint8_t *a = picture.plane(i) + near * width, *b = picture.plane(i) + far * width;
            for (int x = 0; x < 2 * width; x++) {
                const int left = x / 2, right = std::clamp(left + (x & 1 ? 1 : -1), 0, width - 1);
                const int sum = 9 * a[left] + 3 * a[right] + 3 * b[left] + b[right];
                result.plane(i)[y * 2 * width + x] = uint8_t((sum + 8) / 16);
            }
        }
    }
    return result;
}

double squaredError(const Picture &a, const Picture &b) {
    int64_t sum = 0;
    for (int i = 0; i < a.width * a.height; i++) {
        const int difference = a.samples[size_t(i)] - b.samples[size_t(i)];
        sum += difference * difference;
    }
    return double(sum);
}

namespace {
    struct Sums {
        int a = 0, b = 0, squares = 0, products = 0;

        void add(const Sums &other) {
            a += other.a;
            b += other.b;
            squares += other.squares;
            products += other.products;
        }
    };

    Sums block(const uint8_t *a, const uint8_t *b, int stride) {
        Sums sums;
        for (int y = 0; y < 4; y++, a += stride, b += stride) {
            for (int x = 0; x < 4; x++) {
                sums.a += a[x];
                sums.b += b[x];
                sums.squares += a[x] * a[x] + b[x] * b[x];
                sums.products += a[x] * b[x];
            }
        }
        return sums;
    }

    double value(const Sums &s) {
        constexpr double c1 = 0.01 * 0.01 * 255 * 255 * 64, c2 = 0.03 * 0.03 * 255 * 255 * 64 * 63;
        const double variances = 64.0 * s.squares - double(s.a) * s.a - double(s.b) * s.b;
        const double covariance = 64.0 * s.products - double(s.a) * s.b;
        const double means = (2.0 * s.a * s.b + c1) / (double(s.a) * s.a + double(s.b) * s.b + c1);
        return means * (2 * covariance + c2) / (variances + c2);
    }
}

Similarity similarity(const Picture &a, const Picture &b) {
    Similarity result;
    const int columns = a.width / 4, rows = a.height / 4;
    std::vector<Sums> above(static_cast<size_t>(columns)), current(static_cast<size_t>(columns));
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < columns; x++) {
            const int at = y * 4 * a.width + x * 4;
            current[size_t(x)] = block(a.plane(0) + at, b.plane(0) + at, a.width);
            if (y == 0 || x == 0) continue;
            Sums sums = current[size_t(x)];
            sums.add(current[size_t(x - 1)]);
            sums.add(above[size_t(x)]);
            sums.add(above[size_t(x - 1)]);
            result.sum += value(sums);
            result.windows++;
        }
        std::swap(above, current);
    }
    return result;
}

std::vector<Picture> readClip(const std::string &path, int width, int height, int count) {
    FILE *file = fopen(path.c_str(), "rb");
    if (!file) throw std::runtime_error("cannot open " + path + "; clips.sh makes it");
    std::vector<Picture> pictures;
    while (int(pictures.size()) < count) {
        Picture picture(width, height);
        if (fread(picture.samples.data(), 1, picture.samples.size(), file) != picture.samples.size()) break;
        pictures.push_back(std::move(picture));
    }
    fclose(file);
    if (int(pictures.size()) < count) throw std::runtime_error(path + " is too short");
    return pictures;
}
