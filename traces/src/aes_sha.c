// AES-128 in counter mode, eight blocks at a time, and SHA-256, with the AES and SHA instructions.
// Both are checked against the published examples of FIPS 197 and FIPS 180-4.
#include "start.h"
#include <arm_neon.h>

#define BUFFER 65536u
#define AES_ROUNDS 26
#define SHA_BYTES 65536u

static u8 buffer[BUFFER] __attribute__((aligned(64)));
static uint8x16_t round_keys[11];

// One step of the key schedule; the S-box comes from AESE with a zero key, which also moves rows
// that are equal here.
static u32 substitute(u32 word) {
    uint8x16_t all = vreinterpretq_u8_u32(vdupq_n_u32(word));
    return vgetq_lane_u32(vreinterpretq_u32_u8(vaeseq_u8(all, vdupq_n_u8(0))), 0);
}

static NOINLINE void expand_key(const u8 *key) {
    u32 w[44];
    for (int i = 0; i < 4; i++) __builtin_memcpy(&w[i], key + 4 * i, 4);
    u32 constant = 1;
    for (int i = 4; i < 44; i++) {
        u32 t = w[i - 1];
        if (i % 4 == 0) {
            t = substitute(t >> 8 | t << 24) ^ constant;
            constant = constant << 1 ^ (constant >> 7) * 0x11b;
        }
        w[i] = w[i - 4] ^ t;
    }
    for (int i = 0; i < 11; i++) round_keys[i] = vreinterpretq_u8_u32(vld1q_u32(w + 4 * i));
}

static inline uint8x16_t encrypt(uint8x16_t block) {
    for (int round = 0; round < 9; round++) block = vaesmcq_u8(vaeseq_u8(block, round_keys[round]));
    return veorq_u8(vaeseq_u8(block, round_keys[9]), round_keys[10]);
}

static NOINLINE void counter_mode(u64 nonce) {
    for (u32 at = 0; at < BUFFER; at += 128) {
        uint8x16_t block[8];
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            uint64x2_t counter = vcombine_u64(vdup_n_u64(nonce), vdup_n_u64(at / 16 + (u32)i));
            block[i] = vreinterpretq_u8_u64(counter);
        }
#pragma GCC unroll 9
        for (int round = 0; round < 9; round++)
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++) block[i] = vaesmcq_u8(vaeseq_u8(block[i], round_keys[round]));
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            uint8x16_t stream = veorq_u8(vaeseq_u8(block[i], round_keys[9]), round_keys[10]);
            u8 *to = buffer + at + 16 * (u32)i;
            vst1q_u8(to, veorq_u8(vld1q_u8(to), stream));
        }
    }
}

// First 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const u32 sha_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static NOINLINE void sha_blocks(u32 state[8], const u8 *data, u32 bytes) {
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
    for (; bytes >= 64; bytes -= 64, data += 64) {
        uint32x4_t old_abcd = abcd, old_efgh = efgh, w[4];
        for (int i = 0; i < 4; i++)
            w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(data + 16 * i)));
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            uint32x4_t now = vaddq_u32(w[0], vld1q_u32(sha_constants + 4 * i));
            uint32x4_t next = vsha256su1q_u32(vsha256su0q_u32(w[0], w[1]), w[2], w[3]);
            w[0] = w[1];
            w[1] = w[2];
            w[2] = w[3];
            w[3] = next;
            uint32x4_t before = abcd;
            abcd = vsha256hq_u32(abcd, efgh, now);
            efgh = vsha256h2q_u32(efgh, before, now);
        }
        abcd = vaddq_u32(abcd, old_abcd);
        efgh = vaddq_u32(efgh, old_efgh);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}

static void sha_begin(u32 state[8]) {
    static const u32 start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 8; i++) state[i] = start[i];
}

static int aes_is_right(void) {
    u8 key[16], plain[16], out[16];
    static const u8 cipher[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                  0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    for (int i = 0; i < 16; i++) {
        key[i] = (u8)i;
        plain[i] = (u8)(i * 0x11);
    }
    expand_key(key);
    vst1q_u8(out, encrypt(vld1q_u8(plain)));
    int is_right = 1;
    for (int i = 0; i < 16; i++) is_right &= out[i] == cipher[i];
    return is_right;
}

static int sha_is_right(void) {
    u32 state[8];
    u8 block[64] = {'a', 'b', 'c', 0x80};
    block[63] = 24;
    sha_begin(state);
    sha_blocks(state, block, 64);
    return state[0] == 0xba7816bf && state[3] == 0x5dae2223 && state[7] == 0xf20015ad;
}

void run(void) {
    int is_right = sha_is_right() && aes_is_right();
    u32 state[8];
    sha_begin(state);
    ROI_BEGIN();
    for (u32 i = 0; i < AES_ROUNDS; i++) counter_mode(i);
    sha_blocks(state, buffer, SHA_BYTES);
    for (u32 i = 0; i < AES_ROUNDS; i++) counter_mode(i);
    ROI_END();
    // Encrypting twice with the same counters gives the text back.
    for (u32 i = 0; i < BUFFER; i++) is_right &= buffer[i] == 0;
    report("aes_sha", is_right, (u64)state[0] << 32 | state[7]);
}
