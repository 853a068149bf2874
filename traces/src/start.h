// What every workload shares: entry, two system calls, output, a random generator, region markers.
// No library: every instruction of a trace comes from this folder.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

// Marks the region of interest: hints 40 and 41 are no-operations of the architecture.
#define ROI_BEGIN() __asm__ volatile("hint #40" ::: "memory")
#define ROI_END() __asm__ volatile("hint #41" ::: "memory")

static inline long syscall6(long n, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#define SYS_EXIT_GROUP 94
#define SYS_EXIT 93
#define SYS_WRITE 64
#define SYS_FUTEX 98
#define SYS_CLONE 220

static inline void finish(int status) {
    syscall6(SYS_EXIT_GROUP, status, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

static inline void put(const char *text) {
    size_t n = 0;
    while (text[n]) n++;
    syscall6(SYS_WRITE, 1, (long)text, (long)n, 0, 0, 0);
}

// Prints "NAME: ok VALUE" or "NAME: WRONG VALUE" and exits with 0 or 1.
static inline void report(const char *name, int is_right, u64 value) {
    char digits[20];
    for (int i = 0; i < 16; i++) digits[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    digits[16] = '\n';
    digits[17] = 0;
    put(name);
    put(is_right ? ": ok " : ": WRONG ");
    put(digits);
    finish(is_right ? 0 : 1);
}

// Steele and Vigna's mixing of a counter: good enough bits, no state but one word.
static inline u64 next_random(u64 *state) {
    u64 z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#define NOINLINE __attribute__((noinline))

void run(void);

__asm__(".globl _start\n"
        "_start:\n"
        "    mov x29, xzr\n"
        "    mov x30, xzr\n"
        "    bl run\n"
        "    brk #0\n");
