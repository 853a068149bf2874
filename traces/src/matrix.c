// Products of single-precision matrices in Advanced SIMD, 4 x 16 results at a time, then a few
// steps of a double-precision relaxation.
#include "start.h"
#include <arm_neon.h>

#define N 128
#define ROUNDS 5

static float a[N][N], b[N][N], c[N][N];
static double grid[2][N][N];

static NOINLINE void multiply(void) {
    for (int j = 0; j < N; j += 16) {
        for (int i = 0; i < N; i += 4) {
            float32x4_t sum[4][4];
#pragma GCC unroll 4
            for (int r = 0; r < 4; r++)
#pragma GCC unroll 4
                for (int q = 0; q < 4; q++) sum[r][q] = vdupq_n_f32(0);
            for (int k = 0; k < N; k++) {
                float32x4_t row[4];
#pragma GCC unroll 4
                for (int q = 0; q < 4; q++) row[q] = vld1q_f32(&b[k][j + 4 * q]);
#pragma GCC unroll 4
                for (int r = 0; r < 4; r++)
#pragma GCC unroll 4
                    for (int q = 0; q < 4; q++) sum[r][q] = vfmaq_n_f32(sum[r][q], row[q], a[i + r][k]);
            }
#pragma GCC unroll 4
            for (int r = 0; r < 4; r++)
#pragma GCC unroll 4
                for (int q = 0; q < 4; q++) vst1q_f32(&c[i + r][j + 4 * q], sum[r][q]);
        }
    }
}

static NOINLINE void relax(const double (*from)[N], double (*to)[N]) {
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

void run(void) {
    // Small integers: sums are exact, whatever the order of additions.
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = (float)((i + j) % 7 - 3);
            b[i][j] = (float)((i * j) % 5 - 2);
            grid[0][i][j] = grid[1][i][j] = i == 0 ? 1.0 : 0.0;
        }
    }
    ROI_BEGIN();
    for (int round = 0; round < ROUNDS; round++) multiply();
    for (int step = 0; step < 20; step++) relax(grid[step & 1], grid[~step & 1]);
    ROI_END();
    int is_right = 1;
    u64 check = 0;
    // One row by the definition.
    for (int j = 0; j < N; j++) {
        int sum = 0;
        for (int k = 0; k < N; k++) sum += ((5 + k) % 7 - 3) * ((k * j) % 5 - 2);
        is_right &= c[5][j] == (float)sum;
        check = check * 31 + (u64)(long)c[5][j];
    }
    // The relaxation keeps values between its borders and never rises away from the hot one.
    for (int i = 1; i < N; i++) is_right &= grid[0][i][N / 2] >= 0 && grid[0][i][N / 2] <= grid[0][i - 1][N / 2];
    report("matrix", is_right, check);
}
