// Pictures in memory, and how alike two of them are.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

// I420 without padding.
struct Picture {
    Picture(int width, int height, uint8_t value = 128)
        : width(width), height(height), samples(size_t(width * height * 3 / 2), value) {}

    uint8_t *plane(int index) { return samples.data() + offset(index); }
    const uint8_t *plane(int index) const { return samples.data() + offset(index); }
    int stride(int index) const { return index == 0 ? width : width / 2; }
    int rows(int index) const { return index == 0 ? height : height / 2; }

    int width, height;
    std::vector<uint8_t> samples;

private:
    size_t offset(int index) const {
        const size_t luma = size_t(width * height);
        return index == 0 ? 0 : index == 1 ? luma : luma + luma / 4;
    }
};

// Copies all of `source` to a place in `target`.
void place(const Picture &source, Picture &target, int x, int y);

// True if `part` is found at that place of `whole`, sample by sample.
bool isAt(const Picture &part, const Picture &whole, int x, int y);

// True if the outermost samples of the luma are all `value`, and those of the chroma half as deep.
bool hasFlatRim(const Picture &picture, int depth, uint8_t value);

// Half as wide and high, each sample the mean of four; and back, linearly between the samples' centres.
Picture halved(const Picture &picture);
Picture doubled(const Picture &picture);

double squaredError(const Picture &a, const Picture &b);

// SSIM of the luma, over windows of 8x8 samples at every fourth position, and their sum and number.
struct Similarity {
    double sum = 0;
    long windows = 0;
};
Similarity similarity(const Picture &a, const Picture &b);

// A clip of raw I420 pictures.
std::vector<Picture> readClip(const std::string &path, int width, int height, int count);
