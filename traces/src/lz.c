// A compressor of the LZ family (hash of four bytes, greedy matches) and its decompressor.
#include "start.h"

#define INPUT 131072u
#define HASH_BITS 12

static u8 text[INPUT + 8];
static u8 packed[INPUT + INPUT / 8];
static u8 unpacked[INPUT + 300];
static u32 heads[1u << HASH_BITS];

static u32 load32(const u8 *at) {
    u32 word;
    __builtin_memcpy(&word, at, 4);
    return word;
}

// Words of a small vocabulary, frequent ones more often: compresses like text.
static NOINLINE void write_text(void) {
    static u8 words[256][8];
    static u8 lengths[256];
    u64 state = 3;
    for (int w = 0; w < 256; w++) {
        u64 bits = next_random(&state);
        lengths[w] = 2 + bits % 6;
        for (int i = 0; i < lengths[w]; i++) words[w][i] = 'a' + (bits >> (8 + 5 * i) & 31) % 26;
    }
    u32 at = 0;
    while (at < INPUT) {
        u64 bits = next_random(&state);
        u32 w = (bits & 255) * (bits >> 8 & 255) >> 8;
        for (u32 i = 0; i < lengths[w] && at < INPUT; i++) text[at++] = words[w][i];
        if (at < INPUT) text[at++] = ' ';
    }
}

// A token's byte: 0..127 = literals + 1; 128..255 = length of a match - 4, two bytes of distance.
static NOINLINE u32 compress(void) {
    u32 at = 0, out = 0, literal_from = 0;
    while (at < INPUT) {
        u32 limit = INPUT - at, length = 0, candidate = 0;
        if (limit >= 4) {
            u32 hash = load32(text + at) * 2654435761u >> (32 - HASH_BITS);
            candidate = heads[hash];
            heads[hash] = at + 1;
            if (candidate != 0 && at - (candidate - 1) < 65536) {
                const u8 *a = text + at, *b = text + candidate - 1;
                if (limit > 131) limit = 131;
                while (length < limit && a[length] == b[length]) length++;
            }
        }
        if (length < 4) {
            at++;
            if (at - literal_from < 128 && at < INPUT) continue;
        }
        if (at > literal_from) {
            packed[out++] = (u8)(at - literal_from - 1);
            for (u32 i = literal_from; i < at; i++) packed[out++] = text[i];
        }
        if (length >= 4) {
            u32 distance = at - (candidate - 1);
            packed[out++] = (u8)(128 + length - 4);
            packed[out++] = (u8)distance;
            packed[out++] = (u8)(distance >> 8);
            at += length;
        }
        literal_from = at;
    }
    return out;
}

static NOINLINE u32 decompress(u32 length) {
    u32 at = 0, out = 0;
    while (at < length) {
        u32 token = packed[at++];
        if (token < 128) {
            for (u32 i = 0; i <= token; i++) unpacked[out++] = packed[at++];
        } else {
            u32 distance = packed[at] | packed[at + 1] << 8;
            at += 2;
            for (u32 i = 0; i < token - 124; i++, out++) unpacked[out] = unpacked[out - distance];
        }
    }
    return out;
}

void run(void) {
    write_text();
    ROI_BEGIN();
    u32 packed_length = compress();
    u32 length = decompress(packed_length);
    ROI_END();
    int is_equal = length == INPUT;
    for (u32 i = 0; i < INPUT; i++) is_equal &= text[i] == unpacked[i];
    report("lz", is_equal && packed_length < INPUT / 8 * 5, packed_length);
}
