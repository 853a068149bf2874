// Loops of SVE with a predicated tail: a gather, a scatter, a choice by compare, a length of text found with
// first-fault loads. Vectors of 128 bits give the counts of traces/counts.tsv.
#include "start.h"
#include <arm_sve.h>

#define SYS_MMAP 222
#define SYS_MUNMAP 215
#define PAGE 4096u
// 1003 is odd, and leaves three words of the last vector.
#define N 1003u
#define TABLE 4096u
#define ROUNDS 12u

static u32 table[TABLE], values[N];
static u32 index32[N];
static u64 index64[N];
static double from[N], to[N];

static NOINLINE u64 gather_sum(const u32 *at, u32 n) {
    svuint32_t sum = svdup_u32(0);
    for (u32 i = 0; i < n; i += (u32)svcntw()) {
        svbool_t p = svwhilelt_b32(i, n);
        sum = svadd_m(p, sum, svld1_gather_index(p, table, svld1(p, at + i)));
    }
    return svaddv(svptrue_b32(), sum);
}

static NOINLINE void scatter_double(const double *x, const u64 *at, u64 n) {
    for (u64 i = 0; i < n; i += svcntd()) {
        svbool_t p = svwhilelt_b64(i, n);
        svst1_scatter_index(p, to, svld1(p, at + i), svmul_x(p, svld1(p, x + i), 2.0));
    }
}

static NOINLINE u64 sum_above(const u32 *x, u32 n, u32 limit) {
    u64 sum = 0;
    for (u32 i = 0; i < n; i += (u32)svcntw()) {
        svbool_t p = svwhilelt_b32(i, n);
        svuint32_t v = svld1(p, x + i);
        sum += svaddv(svcmpgt(p, v, limit), v);
    }
    return sum;
}

static NOINLINE u64 length(const char *text) {
    u64 n = 0;
    for (;;) {
        svsetffr();
        svuint8_t chars = svldff1(svptrue_b8(), (const u8 *)text + n);
        svbool_t loaded = svrdffr();
        svbool_t ends = svcmpeq(loaded, chars, 0);
        if (svptest_any(loaded, ends)) return n + svcntp_b8(loaded, svbrkb_z(loaded, ends));
        n += svcntp_b8(loaded, loaded);
    }
}

// Text that ends with the last byte of a page behind which there is none.
static char *page_of_text(void) {
    char *pages = (char *)syscall6(SYS_MMAP, 0x30000000, 2 * PAGE, 3, 0x32, -1, 0);
    syscall6(SYS_MUNMAP, (long)(pages + PAGE), PAGE, 0, 0, 0, 0);
    for (u32 i = 0; i < PAGE - 1; i++) pages[i] = (char)('a' + i % 26);
    pages[PAGE - 1] = 0;
    return pages;
}

void run(void) {
    u64 state = 1;
    for (u32 i = 0; i < TABLE; i++) table[i] = (u32)next_random(&state) >> 12;
    for (u32 i = 0; i < N; i++) {
        index32[i] = (u32)next_random(&state) % TABLE;
        index64[i] = i * 7u % N;
        values[i] = (u32)(next_random(&state) >> 44);
        from[i] = i;
    }
    const char *text = page_of_text();
    u64 sum = 0;
    ROI_BEGIN();
    for (u32 round = 0; round < ROUNDS; round++) {
        sum += gather_sum(index32 + round, N - round);
        scatter_double(from, index64, N);
        sum += sum_above(values, N, 0xc0000);
        sum += length(text + 3000 + round * 7);
    }
    ROI_END();
    u64 right = 0;
    int is_right = 1;
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 gathered = 0;
        for (u32 i = round; i < N; i++) gathered += table[index32[i]];
        right += gathered;
        for (u32 i = 0; i < N; i++) right += values[i] > 0xc0000 ? values[i] : 0;
        right += PAGE - 1 - 3000 - round * 7;
    }
    for (u32 i = 0; i < N; i++) is_right &= to[index64[i]] == 2.0 * from[i];
    report("vector", is_right && sum == right, sum);
}
