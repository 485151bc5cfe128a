// Bits of H.264: reading, writing, and the bytes that keep start codes out of NAL units.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

using Bytes = std::vector<uint8_t>;

class BitReader {
public:
    explicit BitReader(const Bytes &bytes, size_t position = 0) : bytes(bytes), at(position) {}

    size_t position() const { return at; }

    uint32_t bits(int count) {
        uint32_t value = 0;
        while (count-- > 0) value = value << 1 | bit();
        return value;
    }

    bool flag() { return bit(); }

    uint32_t ue() {
        int zeros = 0;
        while (!bit()) {
            if (++zeros > 31) throw std::runtime_error("bad ue(v)");
        }
        return (1u << zeros) - 1 + bits(zeros);
    }

    int32_t se() {
        uint32_t code = ue();
        return code & 1 ? int32_t(code / 2 + 1) : -int32_t(code / 2);
    }

private:
    uint32_t bit() {
        if (at >= bytes.size() * 8) throw std::runtime_error("read past the end of a NAL unit");
        uint32_t value = bytes[at >> 3] >> (7 - (at & 7)) & 1;
        at++;
        return value;
    }

    const Bytes &bytes;
    size_t at;
};

class BitWriter {
public:
    void bits(uint32_t value, int count) {
        if (count == 0) return;
        held = held << count | (value & (0xFFFFFFFFull >> (32 - count)));
        heldCount += count;
        while (heldCount >= 8) {
            heldCount -= 8;
            bytes.push_back(uint8_t(held >> heldCount));
        }
    }

    void ue(uint32_t value) {
        int length = 32 - __builtin_clz(value + 1);
        bits(0, length - 1);
        bits(value + 1, length);
    }

    void se(int32_t value) { ue(value > 0 ? uint32_t(2 * value - 1) : uint32_t(-2 * value)); }

    // Copies the bits [from, to) of `source`, a word at a time.
    void copy(const Bytes &source, size_t from, size_t to) {
        while (from < to) {
            size_t offset = from & 7, byte = from >> 3;
            uint64_t word = 0;
            for (size_t i = 0; i < 4; i++) word = word << 8 | (byte + i < source.size() ? source[byte + i] : 0);
            int count = int(std::min<size_t>(32 - offset, to - from));
            bits(uint32_t(word >> (32 - offset - count)), count);
            from += count;
        }
    }

    // Ends the NAL unit: the stop bit and zeros up to a whole byte.
    void stop() {
        bits(1, 1);
        if (heldCount > 0) bits(0, 8 - heldCount);
    }

    size_t count() const { return bytes.size() * 8 + size_t(heldCount); }

    Bytes bytes;

private:
    uint64_t held = 0;
    int heldCount = 0;
};

// The payload of a NAL unit behind its header byte, without emulation prevention bytes.
inline Bytes rawPayload(const uint8_t *unit, size_t size) {
    Bytes raw;
    raw.reserve(size);
    int zeros = 0;
    for (size_t i = 1; i < size; i++) {
        if (zeros >= 2 && unit[i] == 3) {
            zeros = 0;
            continue;
        }
        zeros = unit[i] == 0 ? zeros + 1 : 0;
        raw.push_back(unit[i]);
    }
    return raw;
}

// Appends a NAL unit behind a start code of four bytes; returns its size without the start code.
inline size_t appendUnit(Bytes &stream, uint8_t header, const Bytes &raw) {
    stream.insert(stream.end(), {0, 0, 0, 1, header});
    size_t before = stream.size();
    int zeros = 0;
    for (uint8_t byte : raw) {
        if (zeros >= 2 && byte <= 3) {
            stream.push_back(3);
            zeros = 0;
        }
        stream.push_back(byte);
        zeros = byte == 0 ? zeros + 1 : 0;
    }
    return stream.size() - before + 1;
}
