// String search: Horspool's algorithm for words, and an Advanced SIMD scan for a rare byte pair.
#include "start.h"
#include <arm_neon.h>

#define TEXT 98304u
#define PATTERNS 8

static u8 text[TEXT + 32];

static NOINLINE void write_text(void) {
    u64 state = 6;
    for (u32 i = 0; i < TEXT; i += 8) {
        u64 bits = next_random(&state);
        for (u32 k = 0; k < 8; k++, bits >>= 8) text[i + k] = 'a' + (bits & 15);
    }
}

static NOINLINE u32 horspool(const u8 *pattern, u32 length) {
    u32 shift[256], found = 0;
    for (u32 i = 0; i < 256; i++) shift[i] = length;
    for (u32 i = 0; i + 1 < length; i++) shift[pattern[i]] = length - 1 - i;
    for (u32 at = 0; at + length <= TEXT;) {
        u32 i = length - 1;
        while (text[at + i] == pattern[i]) {
            if (i == 0) {
                found++;
                break;
            }
            i--;
        }
        at += shift[text[at + length - 1]];
    }
    return found;
}

// Occurrences of `first` followed by `second`, sixteen places at a time.
static NOINLINE u32 count_pairs(u8 first, u8 second) {
    uint8x16_t a = vdupq_n_u8(first), b = vdupq_n_u8(second);
    u32 found = 0;
    for (u32 at = 0; at < TEXT; at += 16) {
        uint8x16_t here = vceqq_u8(vld1q_u8(text + at), a);
        uint8x16_t next = vceqq_u8(vld1q_u8(text + at + 1), b);
        uint8x16_t both = vandq_u8(here, next);
        if (vmaxvq_u8(both)) found += vaddvq_u8(vshrq_n_u8(both, 7));
    }
    return found;
}

static NOINLINE u32 count_plain(const u8 *pattern, u32 length) {
    u32 found = 0;
    for (u32 at = 0; at + length <= TEXT; at++) {
        u32 i = 0;
        while (i < length && text[at + i] == pattern[i]) i++;
        found += i == length;
    }
    return found;
}

void run(void) {
    write_text();
    static u8 patterns[PATTERNS][12];
    for (u32 p = 0; p < PATTERNS; p++)
        for (u32 i = 0; i < 12; i++) patterns[p][i] = text[p * 12000 + 77 + i];
    ROI_BEGIN();
    u32 found = 0;
    for (u32 p = 0; p < PATTERNS; p++) found += horspool(patterns[p], 4 + p);
    u32 pairs = 0;
    for (u32 p = 0; p < PATTERNS; p++) pairs += count_pairs(patterns[p][0], patterns[p][1]);
    ROI_END();
    u32 expected = count_plain(patterns[0], 4);
    u32 expected_pairs = count_plain(patterns[0], 2);
    int is_right = horspool(patterns[0], 4) == expected && expected > 0
        && count_pairs(patterns[0][0], patterns[0][1]) == expected_pairs;
    report("search", is_right && found >= PATTERNS, (u64)found << 32 | pairs);
}
