// Bits of H.264 syntax, read and written (H.264 7.2, 9.1).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *data;
    // In bits.
    size_t next, end;
    bool failed;
} BitReader;

static inline uint32_t read_bits(BitReader *reader, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++) {
        if (reader->next >= reader->end) {
            reader->failed = true;
            return 0;
        }
        value = value << 1 | (reader->data[reader->next >> 3] >> (7 - (reader->next & 7)) & 1);
        reader->next++;
    }
    return value;
}

static inline uint32_t read_unsigned(BitReader *reader) {
    int zeros = 0;
    while (!reader->failed && read_bits(reader, 1) == 0) {
        if (++zeros > 31) reader->failed = true;
    }
    return reader->failed ? 0 : (1u << zeros) - 1 + read_bits(reader, zeros);
}

static inline int32_t read_signed(BitReader *reader) {
    uint32_t value = read_unsigned(reader);
    return value & 1 ? (int32_t)(value / 2 + 1) : -(int32_t)(value / 2);
}

typedef struct {
    uint8_t *data;
    size_t next, end;
    bool failed;
} BitWriter;

static inline void write_bits(BitWriter *writer, int count, uint32_t value) {
    for (int i = count - 1; i >= 0; i--) {
        if (writer->next >= writer->end) {
            writer->failed = true;
            return;
        }
        uint8_t mask = (uint8_t)(0x80 >> (writer->next & 7));
        uint8_t *byte = &writer->data[writer->next >> 3];
        *byte = value >> i & 1 ? *byte | mask : *byte & (uint8_t)~mask;
        writer->next++;
    }
}

static inline void write_unsigned(BitWriter *writer, uint32_t value) {
    int bits = 0;
    while (bits < 31 && (value + 1) >> (bits + 1)) bits++;
    write_bits(writer, bits, 0);
    write_bits(writer, bits + 1, value + 1);
}

static inline void write_signed(BitWriter *writer, int32_t value) {
    write_unsigned(writer, value > 0 ? (uint32_t)value * 2 - 1 : (uint32_t)-value * 2);
}

static inline void write_trailing_bits(BitWriter *writer) {
    write_bits(writer, 1, 1);
    while (writer->next & 7) write_bits(writer, 1, 0);
}

// The payload of a NAL unit without the bytes that prevent start codes; returns its length.
static inline size_t remove_emulation(const uint8_t *from, size_t count, uint8_t *to) {
    size_t length = 0;
    int zeros = 0;
    for (size_t i = 0; i < count; i++) {
        if (zeros >= 2 && from[i] == 3) {
            zeros = 0;
            continue;
        }
        zeros = from[i] ? 0 : zeros + 1;
        to[length++] = from[i];
    }
    return length;
}

// Bytes that come out of the encoder.
typedef struct {
    uint8_t *data;
    size_t length, capacity;
    bool failed;
} Output;

static inline void put_byte(Output *output, uint8_t byte) {
    if (output->length == output->capacity) output->failed = true;
    else output->data[output->length++] = byte;
}

// A NAL unit behind its start code, with the bytes that prevent others.
static inline void put_unit(Output *output, uint8_t header, const uint8_t *payload, size_t count) {
    const uint8_t start[] = {0, 0, 0, 1, header};
    for (size_t i = 0; i < sizeof start; i++) put_byte(output, start[i]);
    int zeros = 0;
    for (size_t i = 0; i < count; i++) {
        if (zeros >= 2 && payload[i] <= 3) {
            put_byte(output, 3);
            zeros = 0;
        }
        zeros = payload[i] ? 0 : zeros + 1;
        put_byte(output, payload[i]);
    }
}
